public import Clients
public import EventLog
import Projections

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Fixture {
    /// Makes a fixture from a log's events up to a point and the state that they give.
    ///
    /// Leaves acts out. If the log was compacted, the fixture also holds the facts that the compaction left.
    ///
    /// - Parameters:
    ///   - log: The log.
    ///   - point: The last event; `nil` for the head.
    ///   - profile: A client whose state is stored beside the canonical one; `canonical` for none.
    ///   - directory: The folder to make. It must not exist.
    ///   - about: The text of `about.md` under the title.
    /// - Throws: `FixtureError` if the events alone do not give the log's state; what reading the log and writing files
    ///   throw.
    public static func freeze(
        _ log: EventStore,
        through point: SequenceNumber? = nil,
        profile: Profile = .canonical,
        to directory: URL,
        about: String
    ) throws -> Fixture {
        // The fixture is made within a partial folder and moved out when whole. If this run is killed, the next one
        // removes the partial folder.
        let parent = directory.deletingLastPathComponent()
        let closed: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true, attributes: closed)
        let partial = try Partial.makeFolder(for: ".\(directory.lastPathComponent)", in: Folder(at: parent.path))
        defer { try? FileManager.default.removeItem(atPath: partial.path) }
        let draft = URL(filePath: partial.path).appending(path: directory.lastPathComponent)
        try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: false, attributes: closed)
        let digests = try log.read { session in
            try write(session, through: point ?? session.head, to: draft.appending(path: FixtureEvents.eventsName))
            return try [Profile.canonical, profile].map { try digest(of: session, at: point, profile: $0) }
        }
        try Data("# \(directory.lastPathComponent)\n\n\(about)\n".utf8).write(to: draft.appending(path: "about.md"))
        let events = try FixtureEvents(in: draft)
        for (profile, digest) in zip([Profile.canonical, profile], digests) {
            let state = FixtureState(profile)
            let document = try events.document(of: state)
            guard document["digest"]?.string == digest.hex else {
                throw FixtureError(
                    directory,
                    "the events do not give the log's state (\(profile.rawValue)); see: logtool verify"
                )
            }
            try Data(text(of: document).utf8).write(to: draft.appending(path: state.fileName))
        }
        // Nobody else could reach them before: the partial folder is closed, too.
        for name in try FileManager.default.contentsOfDirectory(atPath: draft.path) {
            let path = draft.appending(path: name).path
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        try FileManager.default.moveItem(at: draft, to: directory)
        return try Fixture(at: directory)
    }

    private static func digest(
        of session: borrowing ReadSession,
        at point: SequenceNumber?,
        profile: Profile
    ) throws -> Hash256 {
        var options = ReplayOptions()
        options.profile = profile
        var state = try Replay.logState(of: session, through: point, options: options)
        return state.digest()
    }

    /// Writes the events up to a point, each checked against its leaf hash first (I7).
    private static func write(_ session: borrowing ReadSession, through last: SequenceNumber, to file: URL) throws {
        var lines: [UInt8] = []
        let facts = try session.fact(Replay.factName)
        let decoders = try Decoders(inForce: session).texts
        if facts != nil || decoders != nil {
            let header: JSONValue = .object([
                "format": .string(FixtureEvents.factsFormat),
                "facts": facts.map { .string(Data($0).base64EncodedString()) },
                "decoders": decoders.map { .object($0) },
            ])
            lines += Array((header.text + "\n").utf8)
        }
        if last > .zero {
            try session.forEachEvent(in: SequenceNumber(1)...last) { event in
                if event.isAct { return true }
                try session.check(event)
                let envelope = event.envelope
                event.withPayload { lines += Array((line(envelope, $0).text + "\n").utf8) }
                return true
            }
        }
        try Data(lines).write(to: file)
    }

    private static func line(_ envelope: Envelope, _ payload: UnsafeRawBufferPointer) -> JSONValue {
        var attributes = JSONObject()
        for pair in envelope.attributes.pairs { attributes[pair.name] = .string(pair.value) }
        var object: JSONObject = [
            "sequence": .string(envelope.sequence.description),
            "recordedAt": .string(envelope.recordedAt.description),
            "source": .string(envelope.source.rawValue),
            "kind": .string(envelope.kind.rawValue),
            "key": .text(envelope.key?.rawValue),
            "attributes": attributes.members.isEmpty ? nil : .object(attributes),
        ]
        if let text = String(validating: payload, as: UTF8.self) {
            object["payload"] = .string(text)
        } else {
            object["payloadBase64"] = .string(Data(payload).base64EncodedString())
        }
        return .object(object)
    }
}
