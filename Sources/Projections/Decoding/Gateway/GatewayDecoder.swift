import EventLog
import JSON
import Kinds

/// Reads the frames of a Discord-like gateway (`gateway.frame/1`) and the starts of connections (`recorder.link/1`).
///
/// An inbound op 10 or a link `open` starts a connection. A dispatch that repeats an earlier one of its connection
/// (same `s`, same bytes) is skipped. Frames that the recorder sent, and control frames, change nothing. An id may be a
/// text or a number; numbers are 64-bit integers.
///
/// Plain frames about messages do not come here: `PlainFrameScanner` reads them, with the same result (I18). A change
/// of a rule for messages must therefore change both.
///
/// Source of the protocol: the upstream server's `internal/gateway/events.go` and `internal/models`.
struct GatewayDecoder: SourceDecoder {
    static let frameKind = KnownKind.gatewayFrame.rawValue
    private static let linkKind = KnownKind.recorderLink.rawValue

    var connections = GatewayConnections()
    /// The user whose connection is recorded, from READY; `nil` before the first. It may change in the life of a log.
    private var recordingUser = Register<EntityID>()
    /// A client's memory beside the state; empty under the canonical profile.
    private var client = GatewayClient()

    init() {}

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        switch envelope.kind.rawValue {
        case Self.linkKind:
            let name = envelope.attributes["connection"]
            switch envelope.attributes["link"] {
            case "open":
                let isAlone = envelope.attributes["by"] != "har"
                connections.start(name, isAlone: isAlone, at: envelope.sequence)
            case "close": connections.close(name, at: envelope.sequence)
            default: break
            }
        case Self.frameKind:
            guard envelope.attributes["dir"] != "out" else { return noteSent(envelope, payload) }
            readFrame(envelope, payload: payload, into: &changes, context: &context)
        default:
            context.issue("gateway: \(envelope.kind) is not read")
        }
    }

    /// Returns the changes of an answer as a client sees them. Called only under a profile's rules.
    mutating func seen(_ answer: GatewayAnswer, context: inout FoldContext) -> [Change] {
        client.seen(answer, context: &context)
    }

    /// Hides the channels that a client listed in `guild` and that are not in `ids`, the answer to its request.
    mutating func seen(
        channels ids: Set<EntityID>,
        in guild: EntityID?,
        context: inout FoldContext
    ) -> [Change] {
        client.channels.keep(ids, in: guild, context: &context)
    }

    /// Notes an inbound dispatch that the short way read; returns whether it repeats an earlier one of its connection.
    /// A frame without `s` cannot be recognised and is never a repeat.
    @inline(__always)
    mutating func isRepeat(_ frame: PlainFrame, on connection: String?, at sequence: SequenceNumber) -> Bool {
        guard let counter = frame.counter else { return false }
        return connections.isRepeat(counter, frame.bytes, hash: frame.hash, on: connection, at: sequence)
    }

    /// Notes a plain frame that writes one copy of a message, and returns the copy's place in the client's list; `nil`, without a
    /// change, for any other.
    mutating func listed(_ frame: PlainFrame, _ rules: ReadingRules) -> Int? { client.listed(frame, rules) }

    /// The changes of a plain frame as a client sees them.
    mutating func seen(_ frame: PlainFrame, context: inout FoldContext) -> [Change] {
        client.seen(frame, context: &context)
    }

    func collectNeeded(into sequences: inout SequenceSet) {
        recordingUser.collectNeeded(into: &sequences)
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        connections.normalForm(into: take)
        take(recordingUser.normalForm { .string(names.text($0)) })
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue {
        JSONValue.written { writeFacts(keeping: kept, names: names, to: &$0) }
    }

    /// The dispatches seen: no event is kept for their sake. The kept events give the recording user (`collectNeeded`).
    func writeFacts(keeping kept: SequenceSet, names: Names, to writer: inout CanonicalWriter) {
        connections.writeFacts(to: &writer)
    }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        // The facts do not contain the log's key, which the state may have set before.
        let key = connections.key
        connections = try GatewayConnections(facts: facts)
        connections.key = key
    }

    /// Loads the dispatches of each connection of the facts, which were cut out of these.
    mutating func load(frames: [UnsafeRawBufferPointer?]) throws {
        try connections.load(frames: frames)
    }
}

extension GatewayDecoder {
    /// What a frame that is no JSON is written in, and what to do; `nil` if its bytes do not show it. The first frame of
    /// a compressed stream begins with a header, and every one ends with an empty block (RFC 1951, section 3.2.4).
    private static func coding(of payload: UnsafeRawBufferPointer) -> String? {
        guard payload.count >= 2 else { return nil }
        let isHeader = payload[0] == 0x78 && (0x7800 + Int(payload[1])) % 31 == 0
        if isHeader || payload.suffix(4).elementsEqual([0x00, 0x00, 0xFF, 0xFF]) {
            return "it is compressed (zlib-stream) and cannot be read; capture again without compress in the URL"
        }
        if payload[0] == 0x83 {
            return "it is in Erlang's term format and cannot be read; capture again with encoding=json in the URL"
        }
        return nil
    }

    /// Reads one frame that the recorder sent. Only RESUME (op 6) and IDENTIFY (op 2) matter: they say whether the
    /// numbers of the connection go on from an earlier one.
    private mutating func noteSent(_ envelope: Envelope, _ payload: UnsafeRawBufferPointer) {
        guard let frame = try? ObjectView(payload) else { return }
        let name = envelope.attributes["connection"]
        switch frame["op"]?.digits?.int64 {
        case 2: connections.noteResume(nil, on: name, at: envelope.sequence)
        case 6:
            let data = frame["d"]?.members
            guard let id = data?["session_id"]?.string, let number = data?["seq"]?.digits?.int64 else { return }
            let resume = GatewayConnections.Resume(session: id, number: number)
            connections.noteResume(resume, on: name, at: envelope.sequence)
        default: break
        }
    }

    /// Reads one inbound frame. Every fault becomes an issue; a fault outside `d` begins with `frame:`, one in `d` with
    /// the dispatch's name.
    private mutating func readFrame(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let members: ObjectView?
        do throws(JSONError) {
            members = try ObjectView(payload)
        } catch {
            return context.issue("frame: \(Self.coding(of: payload) ?? "\(error)")")
        }
        guard let members else { return context.issue("frame: it is no object") }
        do throws(GatewayFault) {
            let isChecked = !context.rules.contains(.membersAreNotChecked)
            let frame = GatewayMembers(members, path: "", isChecked: isChecked)
            switch try frame.integer("op") {
            case 0: try readDispatch(frame, envelope, payload: payload, into: &changes, context: &context)
            // HELLO, the first frame of every connection.
            case 10: connections.start(envelope.attributes["connection"], at: envelope.sequence)
            // HEARTBEAT, RECONNECT, INVALID_SESSION, HEARTBEAT_ACK: they concern the connection, not the state.
            case let op where [1, 7, 9, 11].contains(op):
                let name = envelope.attributes["connection"]
                if op == 9 { connections.noteResume(nil, on: name, at: envelope.sequence) }
                connections.noteControl(name, isAnswer: op == 11, at: envelope.sequence)
            case let op: throw GatewayFault("op \(op) is none that a server sends")
            }
        } catch {
            context.issue("frame: \(error.reason)")
        }
    }

    private mutating func readDispatch(
        _ frame: GatewayMembers,
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) throws(GatewayFault) {
        // Before the name is read: a dispatch that no rule knows still fills its number, so it is no hole.
        if let s = try frame.optionalInteger("s") {
            let connection = envelope.attributes["connection"]
            let isRepeat = connections.isRepeat(s, payload, on: connection, at: envelope.sequence)
            if isRepeat, !context.rules.contains(.repeatsAreReadAgain) { return }
        }
        let name = try frame.text("t")
        switch name {
        case "READY":
            let session = frame["d"]?.members?["session_id"]?.string
            connections.noteReady(session, on: envelope.attributes["connection"], at: envelope.sequence)
        case "RESUMED": connections.noteResumed(on: envelope.attributes["connection"], at: envelope.sequence)
        default: break
        }
        guard let event = GatewayEventName(rawValue: name) else { throw Self.unknownEvent(name) }
        do throws(GatewayFault) {
            let meant = try self.changes(of: event, in: frame, context: &context)
            changes += client.seen(meant, of: event, in: frame["d"], by: recordingUser.value, context: &context)
        } catch {
            context.issue("\(name): \(error.reason)")
        }
    }

    /// Quotes a name only if it looks like one (1 to 64 capitals, digits and `_`): an issue contains no text of its
    /// event.
    private static func unknownEvent(_ name: String) -> GatewayFault {
        let isName =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
        return GatewayFault(isName ? "event \(name) is not known" : "\"t\" is no event's name")
    }

    /// Returns what a dispatch means canonically. READY also sets the recording user, after everything in it was
    /// readable.
    private mutating func changes(
        of event: GatewayEventName,
        in frame: GatewayMembers,
        context: inout FoldContext
    ) throws(GatewayFault) -> [Change] {
        if event == .ready {
            let ready = try frame.members("d")
            let changes = try ready.readyChanges(names: &context.names)
            recordingUser.set(try ready.id("user_id", names: &context.names), at: context.event)
            return changes
        }
        // The server sends `null` if the member left before the server read it again.
        if event == .guildMemberUpdate, frame["d"]?.kind == .null { return [] }
        let data = try frame.members("d")
        return try data.changes(of: event, recordingUser: recordingUser.value, names: &context.names)
    }
}
