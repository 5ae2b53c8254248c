#if Recorders
import Clients
import EventLog
import EventLogTesting
import JSON
import Projections
import Reduction

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a page has done with a log that is served: a search for the event with which something went wrong, and fixtures.
actor ViewedWork {
    private let store: EventStore
    private let reading: Profile
    /// Where fixtures are written; `nil` if none may be.
    private let fixtures: String?

    init(_ store: EventStore, reading: Profile, fixtures: String?) {
        (self.store, self.reading, self.fixtures) = (store, reading, fixtures)
    }

    /// The first event after which an expression holds, between a point where it does not and one where it does.
    ///
    /// - Returns: `first`, or why there is none, and how many states were tested.
    /// - Throws: `ViewRequest.Mistake` for a text that is no expression; as `LogBisection`.
    func bisect(good: UInt64, bad: UInt64, when text: String) throws -> JSONObject {
        let test: StateTest
        do { test = .expression(try StateExpression(parsing: text)) } catch {
            throw Failure("\"\(DisplayText.escaped(text))\" is no expression: \(error)")
        }
        let query = StateQuery(profile: reading)
        var search = try LogBisection(
            of: store,
            good: SequenceNumber(good),
            bad: SequenceNumber(bad),
            options: query.replayOptions
        )
        let outcome = try search.run { try test.verdict($0, options: query.documentOptions) }
        return switch outcome {
        case .first(let first): ["first": .string(first.description), "tested": .int(search.tested)]
        default: ["reason": .string(Self.reason(outcome)), "tested": .int(search.tested)]
        }
    }

    private static func reason(_ outcome: Bisection.Outcome) -> String {
        switch outcome {
        case .first: "found"
        case .same(.bad): "it holds at the good point, too"
        case .same: "it does not hold at the bad point"
        case .reversed: "it holds at the good point, and no more at the bad one: exchange them"
        case .among, .unknownEnd: "some states cannot be tested"
        }
    }

    /// Writes the events up to a point and their state as a fixture, and gives its folder.
    ///
    /// - Throws: `Failure` if no folder was named at the start, or the name is taken or none.
    func freeze(through last: UInt64, as name: String) throws -> JSONObject {
        guard let fixtures else { throw Failure("view was started without --freeze DIR") }
        let isName = !name.isEmpty && name.utf8.count <= 100 && !name.hasPrefix(".")
        guard isName, name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }) else {
            throw Failure("\"\(DisplayText.escaped(name))\" is no name of a folder")
        }
        let folder = URL(filePath: fixtures).appending(path: name)
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw Failure("freeze \"\(folder.path)\": something is there already; choose another name")
        }
        let about =
            "The events 1 to \(last) of a log, and the state that they give. Say here what happened and what was wrong."
        let sequence = SequenceNumber(last)
        _ = try Fixture.freeze(store, through: sequence, profile: reading, to: folder, about: about)
        return ["folder": .string(folder.path)]
    }

    /// What the decoder file of an event's source read of it, and where that stands in the payload; `decoder` is left out where
    /// no file reads the source.
    func reads(at sequence: UInt64) throws -> JSONObject {
        try store.read { session in
            guard let event = try session.event(at: SequenceNumber(sequence)) else {
                throw Failure("the log holds no such event")
            }
            guard let file = try Decoders(inForce: session).rules(of: event.envelope.source) else { return [:] }
            // What an event repeats is not asked here, so the events before it need not be read.
            var trial = DecoderTrial(file, source: event.envelope.source, traces: true)
            let outcome = event.payload.withUnsafeBytes { trial.read(event.envelope, payload: $0) }
            let reads = outcome.reads.filter { $0.value != nil }.map { read in
                JSONValue.object([
                    "effect": .string(read.effect), "member": .string(read.member), "from": .string(read.source),
                    "start": read.place.map { .int($0.lowerBound) }, "end": read.place.map { .int($0.upperBound) },
                ])
            }
            return [
                "decoder": .string(file.name), "line": outcome.line.map { .int($0) }, "reads": .array(reads),
            ]
        }
    }
}
#endif
