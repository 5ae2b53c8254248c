public import EventLog
import Projections

/// Joins logs: makes a log of the changes of several ones, and brings it up to them.
///
/// Changes are in the order of their own log's clock, the greatest `recordedAt` up to there; at one clock, in the order of the logs' names;
/// within a log, in its own. So each log keeps its order, and the clock of the joined log never goes back. A change whose key the joined log has
/// already for that source is left out. Of the acts only decoder files count, and come first.
///
/// The joined log is derived data: it is made of the members alone, so that its sequences are the same wherever it is made.
public struct LogJoin {
    /// A log to be joined.
    public struct Input: Sendable {
        /// The name that orders it.
        public let name: String
        /// Opens it. Called more than once where there are many logs.
        let open: @Sendable () throws -> EventStore

        /// An input.
        public init(name: String, open: @escaping @Sendable () throws -> EventStore) {
            (self.name, self.open) = (name, open)
        }
    }

    /// The most logs that are joined at once.
    public static let inputsMax = 10_000
    /// The name of the folder, within a folder of logs, that holds the joined log.
    public static let folderName = ".joined"
    /// So many logs stay open; more would take the files that a process may open.
    private static let openMax = 64
    /// The payload bytes that are in memory for all inputs together.
    private static let chunkBytes = 64 << 20

    private let inputs: [Input]

    /// - Throws: `EngineError` for no log, more than `inputsMax`, and a name that is given twice.
    public init(of inputs: [Input]) throws {
        guard !inputs.isEmpty, inputs.count <= Self.inputsMax else {
            throw EngineError("join logs: there are \(inputs.count), and 1 to \(Self.inputsMax) are joined at once")
        }
        self.inputs = inputs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (input, next) in zip(self.inputs, self.inputs.dropFirst()) where input.name == next.name {
            throw EngineError("join \"\(input.name)\": the log is named twice; name it once")
        }
    }

    /// The joined log in a folder, made anew or brought up to its members.
    ///
    /// Where the members have only grown, and their new events come behind all that were joined, these are appended; where nothing
    /// is new, nothing is written. One process at a time; others wait. A run that was cut short leaves what the next one removes.
    ///
    /// Cost: a look at each member; the new events, or all of them. Memory: 64 MiB of payloads.
    ///
    /// - Parameters:
    ///   - path: a folder for the joined log alone, which exists.
    ///   - report: called now and then with the number of events that were read, and of all that are to be.
    /// - Throws: `EngineError`: `no` for a log that lacks events since a compaction; `trouble` for a part, for two copies of one log, for two
    ///   decoder files of one source, and for a key that two logs of one source have with different payloads. `EventLogError` if a log
    ///   cannot be read (`damaged` for an altered event), was rewritten meanwhile (`locked`), or the folder cannot be written (`io`).
    public func run(
        in path: String,
        _ report: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws -> JoinedLog {
        let folder = try JoinFolder(at: path)
        defer { folder.unlock() }
        var stores: [EventStore?] = Array(repeating: nil, count: inputs.count)
        let members = try inputs.indices.map { place in
            let store = try inputs[place].open()
            if inputs.count <= Self.openMax { stores[place] = store }
            return try JoinMember(store, name: inputs[place].name)
        }
        try Self.refuseCopies(among: members)
        let decoders = try Self.decoders(of: members)
        let openings = inputs.indices.map { place in
            let (store, input) = (stores[place], inputs[place])
            return { try store ?? input.open() }
        }
        if let current = try? folder.current(), let record = try continued(current.record, members, decoders, openings)
        {
            var writer = JoinWriter(current.store, current.places, record)
            if try merge(members, behind: current.record, openings, into: &writer, report) { try writer.finish() }
            return JoinedLog(store: current.store, record: writer.record, places: current.places)
        }
        let (store, places) = try folder.make()
        var writer = JoinWriter(store, places, JoinRecord())
        do {
            try begin(&writer, members, decoders, openings)
            _ = try merge(members, behind: JoinRecord(), openings, into: &writer, report)
            try writer.finish()
        } catch {
            folder.removeAll()
            throw error
        }
        folder.removeOthers()
        return JoinedLog(store: store, record: writer.record, places: places)
    }

    // MARK: - What must fit

    /// Two copies of one log would give each change without a key twice.
    private static func refuseCopies(among members: [JoinMember]) throws {
        var names: [[UInt8]: String] = [:]
        for member in members {
            if let other = names.updateValue(member.name, forKey: member.identity) {
                throw EngineError(
                    "join \"\(member.name)\": it is a copy of \"\(other)\", with the same identity; leave one of them out"
                )
            }
        }
    }

    /// The decoder file of each source. A log that has none for a source takes that of another one.
    private static func decoders(of members: [JoinMember]) throws -> Decoders {
        var (decoders, homes) = (Decoders(), [SourceName: String]())
        for member in members {
            for source in member.decoders.sources {
                guard let file = member.decoders[source] else { continue }
                if let other = decoders[source], other.hash != file.hash {
                    throw EngineError(
                        "join \"\(member.name)\": source \(source) is read by decoder \(file.name) there, and by another one (\(other.name)) in "
                            + "\"\(homes[source] ?? "")\"; set one of them in both: logtool decoder LOG set \(source) FILE"
                    )
                }
                (decoders[source], homes[source]) = (file, member.name)
            }
        }
        return decoders
    }

    // MARK: - Going on

    /// The record to go on from, with the members as they are now; `nil` if the joined log must be made anew.
    private func continued(
        _ record: JoinRecord,
        _ members: [JoinMember],
        _ decoders: Decoders,
        _ openings: [() throws -> EventStore]
    ) throws -> JoinRecord? {
        guard record.decoders == Self.hashes(of: decoders) else { return nil }
        let parts = Dictionary(record.parts.map { ($0.name, $0) }) { first, _ in first }
        guard parts.count == record.parts.count, parts.keys.allSatisfy({ name in members.contains { $0.name == name } })
        else { return nil }
        var result = record
        for (member, open) in zip(members, openings) {
            let part = parts[member.name]
            if let part {
                guard part.identity == member.identity, part.generation == member.generation,
                    part.head <= member.head.rawValue
                else { return nil }
                if part.head == member.head.rawValue, part.root == member.root { continue }
            }
            let head = part?.head ?? 0
            let fits = try open().read { session in
                guard try session.root(size: head) == part?.root ?? session.root(size: 0) else { return false }
                guard head < session.head.rawValue, let last = record.last else { return true }
                // An act has the clock before it, so a log may be made anew without need.
                let clock = try session.clock(at: SequenceNumber(head + 1))?.microseconds ?? .min
                let names = (member.name.utf8, last.name.utf8)
                return clock > last.clock
                    || clock == last.clock && !names.0.lexicographicallyPrecedes(names.1)
            }
            guard fits else { return nil }
            if part == nil { result.parts.append(Self.part(member)) }
        }
        return result
    }

    private static func hashes(of decoders: Decoders) -> [String: String] {
        var hashes: [String: String] = [:]
        for source in decoders.sources { hashes[source.rawValue] = decoders[source]?.hash.hex }
        return hashes
    }

    private static func part(_ member: JoinMember) -> JoinRecord.Part {
        JoinRecord.Part(
            name: member.name,
            identity: member.identity,
            generation: member.generation,
            head: 0,
            root: MerkleFrontier().root
        )
    }

    // MARK: - Merging

    /// Puts the decoder files in force, at the time of the first change.
    private func begin(
        _ writer: inout JoinWriter,
        _ members: [JoinMember],
        _ decoders: Decoders,
        _ openings: [() throws -> EventStore]
    ) throws {
        writer.record.parts = members.map(Self.part)
        writer.record.decoders = Self.hashes(of: decoders)
        if decoders.sources.isEmpty { return }
        var first: Int64?
        for (member, open) in zip(members, openings) {
            var cursor = JoinCursor(member, behind: 0, clock: .min, bytesMax: 1, open: open)
            if let clock = try cursor.peek()?.clock { first = min(first ?? clock, clock) }
        }
        for source in decoders.sources {
            try writer.act(decoders[source], for: source, at: Timestamp(microseconds: first ?? 0))
        }
    }

    /// Appends the members' changes behind those of a record, in order. Returns whether the record has changed.
    private func merge(
        _ members: [JoinMember],
        behind record: JoinRecord,
        _ openings: [() throws -> EventStore],
        into writer: inout JoinWriter,
        _ report: (UInt64, UInt64) -> Void
    ) throws -> Bool {
        let heads = Dictionary(record.parts.map { ($0.name, $0.head) }) { first, _ in first }
        let places = Dictionary(writer.record.parts.enumerated().map { ($1.name, $0) }) { first, _ in first }
        var cursors: [(place: Int, cursor: JoinCursor)] = []
        var total: UInt64 = 0
        for (member, open) in zip(members, openings) {
            let head = heads[member.name] ?? 0
            guard head < member.head.rawValue, let place = places[member.name] else { continue }
            total += member.head.rawValue - head
            let clock =
                try head == 0 ? .min : open().read { try $0.clock(at: SequenceNumber(head))?.microseconds ?? .min }
            let bytesMax = max(64 << 10, Self.chunkBytes / members.count)
            cursors.append((place, JoinCursor(member, behind: head, clock: clock, bytesMax: bytesMax, open: open)))
        }
        var isChanged = !cursors.isEmpty || writer.record.parts != record.parts
        var done: UInt64 = 0
        while let (first, bound) = try Self.next(&cursors) {
            let (place, name) = (cursors[first].place, writer.record.parts[cursors[first].place].name)
            while let change = try cursors[first].cursor.peek(),
                bound.map({ (change.clock, first) < ($0.clock, $0.place) }) ?? true
            {
                cursors[first].cursor.advance()
                isChanged = true
                if try writer.add(change, of: place, name) { report(done, total) }
                done += 1
            }
        }
        for member in members {
            guard let place = places[member.name] else { continue }
            writer.reach(member, at: place)
        }
        return isChanged
    }

    /// The cursor with the first change, and clock and place of the one that follows it among the others; `nil` if all are at their ends.
    /// Cursors are in the order of their logs' names.
    private static func next(
        _ cursors: inout [(place: Int, cursor: JoinCursor)]
    ) throws -> (first: Int, bound: (clock: Int64, place: Int)?)? {
        var (first, second): ((clock: Int64, place: Int)?, (clock: Int64, place: Int)?)
        for place in cursors.indices {
            guard let clock = try cursors[place].cursor.peek()?.clock else { continue }
            guard let best = first, best <= (clock, place) else {
                (first, second) = ((clock, place), first)
                continue
            }
            if second.map({ (clock, place) < $0 }) ?? true { second = (clock, place) }
        }
        return first.map { ($0.place, second) }
    }
}
