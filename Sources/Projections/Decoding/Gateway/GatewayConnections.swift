import EventLog
import JSON

/// The dispatches seen on each connection; recognises a dispatch that repeats an earlier one.
///
/// `s` counts within one connection only. The recorder's name identifies a connection; frames without a name belong to
/// the last unnamed connection in log order.
///
/// Owned by `GatewayDecoder`, which survives compactions: a repeat may arrive after the original's event was dropped,
/// so `facts` stores every remembered dispatch. Cost of one dispatch: a hash of its bytes and, while `s` only grows,
/// one comparison.
struct GatewayConnections: Codable, Sendable {
    /// A session whose connection ended, with its greatest `s`.
    private struct EndedSession: Codable {
        let id: String
        let greatest: Int64
    }

    /// Longer ids of sessions are passed over, because facts contain them (I27).
    private static let sessionBytesMax = 256

    /// A connection remembers at least this many of its last dispatches, and fewer than twice as many. A repeat follows
    /// its original soon, and a connection that lasts for weeks must not grow the facts of a compaction (I27).
    static let markCountMax = 65_536

    /// A recorder runs one connection, briefly two. The others are kept to recognise late frames of closed connections.
    private static let connectionCountMax = 8

    /// A day: no server repeats a frame this long after the connection's last frame.
    private static let secondsAfterEnd: Int64 = 86_400

    /// In order of their start, the newest last; at most `connectionCountMax`, names distinct.
    private var connections: [Connection] = []
    /// The last event noted. A compacted log replays kept events up to here again; they must not be noted twice.
    private var settled: UInt64 = 0
    /// The numbers `s` that never arrived.
    private(set) var holes = SequenceHoles()
    /// The times in which no connection was heard.
    private(set) var outages = ConnectionOutages()
    /// The session of the connection that was heard last and ended; `nil` if it had none.
    private var ended: EndedSession?
    /// The sequences of the repeats, if they are known; then no mark is looked for or noted. Set for events that were
    /// folded before, and empty for events without repeats, such as those of `ChannelFold`. Not saved.
    var knownRepeats: SequenceSet?
    /// The repeats found, if they are to be noted. Not saved.
    var foundRepeats: SequenceSet?
    /// When the current event was recorded. The owner sets it before each event; not saved.
    var now = Timestamp(seconds: 0)
    /// The log's key for frame hashes. Not saved: the owner sets it, and sets it again after `init(facts:)` or a load.
    var key = FrameKey.none

    init() {}

    /// Starts a connection. An earlier connection with the same name, or the earlier unnamed one, is forgotten.
    ///
    /// The recorder's `open` and the server's HELLO both start one connection. The second start loses no mark, because
    /// HELLO precedes all dispatches.
    ///
    /// - Parameter isAlone: whether all other connections have ended: a recorder has one at a time, a browser may have
    ///   several.
    mutating func start(_ name: String?, isAlone: Bool = false, at sequence: SequenceNumber) {
        guard sequence.rawValue > settled else { return }
        for lost in outages.heard where isAlone || lost == name { lose(lost) }
        connections.removeAll { $0.name == name }
        begin(name, at: sequence)
        settled = sequence.rawValue
    }

    /// Notes that a connection's link closed.
    mutating func close(_ name: String?, at sequence: SequenceNumber) {
        guard sequence.rawValue > settled, outages.hears(name) else { return }
        lose(name)
        settled = sequence.rawValue
    }

    /// Notes an inbound frame without a number: the remote was heard. The answer to a heartbeat (`isAnswer`) after a
    /// RESUME also shows that changes come in again, from a server that answers no RESUME.
    mutating func noteControl(_ name: String?, isAnswer: Bool, at sequence: SequenceNumber) {
        guard sequence.rawValue > settled, let place = connections.lastIndex(where: { $0.name == name }) else { return }
        connections[place].controlAt = now
        if isAnswer, connections[place].resume != nil, connections[place].heardAt == nil { hear(place) }
        settled = sequence.rawValue
    }

    /// Notes what the recorder asks for in place of a new session; `nil` takes it back.
    mutating func noteResume(_ resume: Resume?, on name: String?, at sequence: SequenceNumber) {
        guard sequence.rawValue > settled, let place = connections.lastIndex(where: { $0.name == name }) else { return }
        connections[place].resume = resume.flatMap { $0.session.utf8.count <= Self.sessionBytesMax ? $0 : nil }
        settled = sequence.rawValue
    }

    /// Notes the session that READY, a dispatch noted before, begins.
    mutating func noteReady(_ session: String?, on name: String?, at sequence: SequenceNumber) {
        // `isRepeat` has settled the event; one that is accounted for by facts is older.
        guard sequence.rawValue >= settled, let place = connections.lastIndex(where: { $0.name == name }) else {
            return
        }
        connections[place].session = session.flatMap { $0.utf8.count <= Self.sessionBytesMax ? $0 : nil }
        connections[place].resume = nil
    }

    /// Notes that a RESUME succeeded, by a dispatch noted before. If the numbers go on from the last one that the
    /// recorder had of the session, without a hole, nothing was missed.
    mutating func noteResumed(on name: String?, at sequence: SequenceNumber) {
        guard sequence.rawValue >= settled, let place = connections.lastIndex(where: { $0.name == name }),
            let resume = connections[place].resume
        else { return }
        connections[place].resume = nil
        connections[place].session = resume.session
        guard let ended, Sameness.areSame(ended.id, resume.session), resume.number <= ended.greatest,
            connections[place].first == resume.number &+ 1, !holes.hasHole(on: connections[place].start),
            let heardAt = connections[place].heardAt
        else { return }
        outages.removeLast(endedAt: heardAt)
    }

    /// Notes that changes come in on a connection.
    private mutating func hear(_ place: Int) {
        connections[place].heardAt = now
        outages.begin(connections[place].name, at: now)
    }

    /// Notes the end of a connection that was heard.
    private mutating func lose(_ name: String?) {
        guard let connection = connections.last(where: { $0.name == name }) else {
            // It was forgotten among many others.
            return outages.end(name, lastHeard: now)
        }
        outages.end(name, lastHeard: max(connection.lastAt, connection.controlAt ?? connection.lastAt))
        // A connection that ended before its RESUME was answered leaves the session as it was.
        guard connection.resume == nil else { return }
        ended = connection.session.flatMap { id in
            connection.greatest.map { EndedSession(id: id, greatest: $0) }
        }
    }

    /// Notes a dispatch and returns whether it repeats an earlier one of its connection.
    ///
    /// A compacted log replays events whose dispatches the facts already contain. An event that finds its own sequence
    /// is the original and no repeat; so is an event up to `settled` whose mark was forgotten since.
    ///
    /// - Parameter hash: the hash of the payload under `key`, if it is known.
    @inline(__always)
    mutating func isRepeat(
        _ s: Int64,
        _ payload: UnsafeRawBufferPointer,
        hash: UInt128? = nil,
        on name: String?,
        at sequence: SequenceNumber
    ) -> Bool {
        if let knownRepeats { return knownRepeats.contains(sequence.rawValue) }
        assert(hash.map { $0 == key.hash(payload) } ?? true, "a hash was made under the key of this log")
        let mark = Mark(s: s, hash: hash ?? key.hash(payload))
        let index = connections.lastIndex { $0.name == name }
        if let first = index.flatMap({ connections[$0].sequence(of: mark) }) {
            if first < sequence.rawValue { foundRepeats?.insert(sequence.rawValue) }
            return first < sequence.rawValue
        }
        guard sequence.rawValue > settled else { return false }
        // A frame of a connection whose start is not in the log begins the connection itself.
        let place = index ?? begin(name, at: sequence)
        // Before `note`, because a hole ends where `lastAt` was before this dispatch.
        watch(mark.s, on: place)
        connections[place].note(mark, at: sequence.rawValue)
        settled = sequence.rawValue
        return false
    }

    /// Opens a hole where numbers are missing before `s`; fills one where `s` comes late. The first dispatch of a
    /// connection opens none: a resumed session starts at any number.
    @inline(__always)
    private mutating func watch(_ s: Int64, on place: Int) {
        let greatest = connections[place].greatest
        if let greatest, s <= greatest {
            holes.fill(s, on: connections[place].start)
        } else {
            if let greatest {
                if greatest != s - 1 {
                    let (start, from) = (connections[place].start, connections[place].lastAt)
                    holes.open(after: greatest, before: s, on: start, from: from, to: now)
                }
            } else {
                connections[place].first = s
                if connections[place].heardAt == nil { hear(place) }
            }
            connections[place].greatest = s
        }
        assert(connections[place].greatest ?? .min >= s, "no number of a connection is above its greatest")
        connections[place].lastAt = now
    }

    /// Forgets the dispatches of every connection that has a successor and was silent for a day before `clock`, the
    /// source's clock. Called by compactions alone (I27).
    ///
    /// The newest connection keeps its dispatches, because it may still be open.
    mutating func forgetEnded(at clock: Timestamp) {
        for place in connections.indices.dropLast() {
            let end = connections[place].lastAt.seconds.addingReportingOverflow(Self.secondsAfterEnd)
            if !end.overflow, end.partialValue <= clock.seconds { connections[place].forgetAll() }
        }
    }

    /// Appends a connection and returns its index. Drops the one that started first when there are too many.
    @discardableResult
    private mutating func begin(_ name: String?, at sequence: SequenceNumber) -> Int {
        if connections.count == Self.connectionCountMax { connections.removeFirst() }
        connections.append(Connection(name: name, start: sequence.rawValue))
        return connections.count - 1
    }
}

extension GatewayConnections {
    /// Everything: `{"settled":"…","holes":[…],"outages":{…},"ended":["session",s],"connections":[{"name","start",
    /// "greatest","last","frames":[[s,"hash","sequence"]], …}]}`, dispatches in log order, times in microseconds since
    /// 1970 (UTC), hashes in hexadecimal digits.
    ///
    /// Makes no value of the dispatches, as there may be a hundred thousand.
    func writeFacts(to writer: inout CanonicalWriter) {
        var facts: JSONObject = ["settled": .string(String(settled)), "holes": holes.facts, "connections": .null]
        facts["outages"] = outages.facts
        facts["ended"] = ended.map { .array([.string($0.id), .int($0.greatest)]) }
        writer.object(facts) { name, writer in
            guard name == "connections" else { return false }
            writer.array(connections) { connection, writer in
                var members = connection.members
                members["frames"] = .null
                writer.object(members) { name, writer in
                    guard name == "frames" else { return false }
                    writer.array(connection.dispatches) { $0.write(to: &$1) }
                    return true
                }
            }
            return true
        }
    }

    /// Everything, the dispatches of a connection as one hash, for there may be a hundred thousand.
    func normalForm(into take: (JSONValue) -> Void) {
        let ended = ended.map { JSONValue.array([.string($0.id), .int($0.greatest)]) }
        take(.array([.string(String(settled)), holes.facts, outages.facts ?? .null, ended ?? .null]))
        for connection in connections {
            take(.object(connection.members))
            take(.string(Hasher256.hash(connection.dispatchBytes).hex))
        }
    }

    /// Reads what `facts` wrote. Ignores the member `seen` of an earlier program: its hashes had no key, so a remote
    /// could make up frames that match them.
    ///
    /// - Throws: `ProjectionError.facts` if a member has another form. Leaves `key` at `FrameKey.none`.
    init(facts: JSONValue) throws {
        guard let settled = facts["settled"]?.string.flatMap({ UInt64($0) }), let list = facts["connections"]?.array
        else { throw ProjectionError.facts("the connections of a gateway have another form") }
        self.settled = settled
        holes = try SequenceHoles(facts: facts["holes"])
        outages = try ConnectionOutages(facts: facts["outages"])
        if let fact = facts["ended"]?.array, let id = fact.first?.string, let greatest = fact.last?.number?.int64 {
            ended = EndedSession(id: id, greatest: greatest)
        }
        for fact in list.suffix(Self.connectionCountMax) {
            let start = fact["start"]?.string.flatMap { UInt64($0) } ?? 0
            var connection = Connection(name: fact["name"]?.string, start: start)
            // Stored, because the dispatch with the greatest `s` may be forgotten.
            connection.greatest = fact["greatest"]?.number?.int64
            connection.lastAt = Timestamp(microseconds: fact["last"]?.number?.int64 ?? 0)
            connection.controlAt = fact["control"]?.number?.int64.map { Timestamp(microseconds: $0) }
            connection.heardAt = fact["heard"]?.number?.int64.map { Timestamp(microseconds: $0) }
            connection.first = fact["first"]?.number?.int64
            connection.session = fact["session"]?.string
            if let resume = fact["resume"]?.array, let id = resume.first?.string,
                let number = resume.last?.number?.int64
            {
                connection.resume = GatewayConnections.Resume(session: id, number: number)
            }
            for seen in fact["frames"]?.array ?? [] {
                guard let dispatch = Dispatch(seen) else { throw Self.frameFault }
                connection.note(dispatch.mark, at: dispatch.sequence)
            }
            connections.append(connection)
        }
    }

    /// Loads the dispatches of connections whose facts had none, from the texts of their lists: no value is made of the
    /// dispatches.
    ///
    /// - Parameter frames: one for each connection of the facts; `nil` for those without a list.
    /// - Throws: as `init(facts:)`.
    mutating func load(frames: [UnsafeRawBufferPointer?]) throws {
        // The facts of an earlier program may have more connections than are remembered.
        for (index, text) in zip(connections.indices, frames.suffix(connections.count)) {
            guard let text else { continue }
            do {
                var reader = JSONReader(text)
                try reader.enterArray()
                while try reader.nextElement() {
                    let element = try reader.slice()
                    guard let dispatch = try Dispatch(written: element) ?? Dispatch(.parse(element)) else {
                        throw Self.frameFault
                    }
                    connections[index].note(dispatch.mark, at: dispatch.sequence)
                }
            } catch is JSONError {
                throw Self.frameFault
            }
        }
    }

    private static var frameFault: ProjectionError { .facts("a frame seen on a gateway has another form") }
}

extension GatewayConnections {
    private enum CodingKeys: CodingKey { case connections, settled, holes, outages, ended }
}
