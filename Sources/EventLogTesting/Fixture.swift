public import Clients
import EventLog
public import Projections

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A folder with what a remote sent and the state that this must give: a regression test of an app.
///
/// ```swift
/// @Test func aRepliedMessageShowsOnce() async throws {
///     try await Fixture(at: url).check()
/// }
/// ```
///
/// The folder contains `events.ndjson` (exported events) or `capture.ndjson` (a capture, with a line `kind: …` in
/// `about.md`), the state document `expected.json`, and `expected.PROFILE.json` for each client whose reading it tests.
/// Names that begin with `expected@SEQ` are for the state after that event (`FixtureState`). `logtool freeze` makes
/// such a folder.
public struct Fixture: Sendable {
    /// The folder.
    public let directory: URL
    /// The expected states: final ones first, `canonical` before the clients.
    public let states: [FixtureState]

    /// The profiles with an expected final state, `canonical` first.
    public var profiles: [Profile] { states.filter { $0.point == nil }.map(\.profile) }

    /// Opens the fixture in a folder.
    ///
    /// - Throws: `FixtureError` if the folder has no events or no `expected.json`, or a file name beginning with
    ///   `expected@` is malformed.
    public init(at directory: URL) throws {
        self.directory = directory
        let exists = { (name: String) in
            FileManager.default.fileExists(atPath: directory.appending(path: name).path)
        }
        guard exists(FixtureEvents.eventsName) || exists(FixtureEvents.captureName) else {
            throw FixtureError(
                directory,
                "it has neither \(FixtureEvents.eventsName) nor \(FixtureEvents.captureName)"
            )
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        if let odd = names.sorted().first(where: { $0.hasPrefix("expected@") && FixtureState(fileName: $0) == nil }) {
            throw FixtureError(
                directory.appending(path: odd),
                "its name is no state's; call it expected@SEQ.json or expected@SEQ.PROFILE.json"
            )
        }
        states = names.compactMap { FixtureState(fileName: $0) }.sorted(by: FixtureState.precedes)
        guard states.contains(where: { $0.point == nil && $0.profile == .canonical }) else {
            throw FixtureError(
                directory,
                "it has no expected.json; write {} into one, and logtool check --update completes it"
            )
        }
    }

    /// Replays the events to every expected state and compares.
    ///
    /// - Throws: `FixtureMismatch` with the first difference and the event responsible for it; `FixtureError` if a file
    ///   cannot be read.
    public func check() async throws {
        for state in states {
            if let mismatch = try mismatch(for: state) { throw mismatch }
        }
    }

    /// What differs from the expected final state of a profile; `nil` if nothing does.
    public func mismatch(for profile: Profile) throws -> FixtureMismatch? {
        try mismatch(for: FixtureState(profile))
    }

    /// What differs from an expected state; `nil` if nothing does.
    public func mismatch(for state: FixtureState) throws -> FixtureMismatch? {
        let events = try FixtureEvents(in: directory)
        let found = try document(of: state, events)
        let file = golden(of: state)
        let bytes = try FixtureFile.bytes(of: file)
        if bytes.elementsEqual(Self.text(of: found).utf8) { return nil }
        let expected: JSONValue
        do {
            expected = try JSONValue.parse(bytes)
        } catch {
            throw FixtureError(file, "\(error)")
        }
        return try FixtureMismatch(fixture: self, state: state, expected: expected, found: found, events: events)
    }

    /// Stores the final state that the events give under a profile as the expected one.
    ///
    /// - Returns: Whether the file changed.
    public func update(_ profile: Profile) throws -> Bool {
        try update(FixtureState(profile))
    }

    /// Stores a state that the events give as the expected one.
    ///
    /// - Returns: Whether the file changed.
    public func update(_ state: FixtureState) throws -> Bool {
        let text = Array(Self.text(of: try document(of: state, FixtureEvents(in: directory))).utf8)
        let file = golden(of: state)
        let exists = try Folder(at: directory.path).kind(of: file.lastPathComponent) != .nothing
        guard try !exists || FixtureFile.bytes(of: file) != text else { return false }
        try Partial.write(text, toFileAt: file.path)
        return true
    }

    /// The file with the expected final state of a profile.
    public func golden(of profile: Profile) -> URL { golden(of: FixtureState(profile)) }

    /// The file with an expected state.
    public func golden(of state: FixtureState) -> URL { directory.appending(path: state.fileName) }

    private func document(of state: FixtureState, _ events: FixtureEvents) throws -> JSONValue {
        if let point = state.point, !events.hold(point) {
            throw FixtureError(golden(of: state), "the fixture has no event \(point)")
        }
        return try events.document(of: state)
    }

    /// The text of a state document in a golden file: one row per line, so that a line diff shows what changed.
    public static func text(of document: JSONValue) -> String { document.lines + "\n" }
}

/// Why a fixture cannot be used.
public struct FixtureError: Error, CustomStringConvertible {
    /// The file and what is wrong with it.
    public let description: String

    init(_ file: URL, _ reason: String) {
        description = "check \"\(file.path)\": \(reason)"
    }
}
