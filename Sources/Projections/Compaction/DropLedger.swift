internal import EventLog

/// Which compaction dropped which message, and by which decoder the dropped events of a source were read. Stored beside the
/// facts, which name only the messages. No state depends on it: a damaged or missing ledger loses answers of `history`, and
/// lets another decoder file be set without a word.
struct DropLedger {
    /// The name of the value that a rewrite stores.
    static let factName = "drops/1"
    private static let format = "eventlog.drops/1"

    /// For each source, run lengths over its dropped messages, sorted by channel, then id: the next `count` of them
    /// were dropped by the compaction decided at head `decidedAt`, 0 if unknown. Runs instead of ids, which the facts
    /// have already.
    private var runs: [SourceName: [(decidedAt: UInt64, count: Int)]] = [:]
    /// What read the events of a source that the last compaction dropped; only of sources that a decoder file may read.
    private(set) var readers: [SourceName: DecoderIdentity] = [:]

    /// Reads what `bytes` gave; anything else makes an empty ledger.
    init(_ bytes: [UInt8]?) {
        guard let bytes, let document = try? JSONValue.parse(bytes), document["format"]?.string == Self.format else {
            return
        }
        for value in document["sources"]?.array ?? [] {
            guard let name = value["source"]?.string.flatMap({ try? SourceName($0) }) else { continue }
            runs[name] = (value["runs"]?.array ?? []).compactMap { run in
                guard let pair = run.array, pair.count == 2, let decidedAt = pair[0].string.flatMap({ UInt64($0) }),
                    let count = pair[1].number?.int64.flatMap(Int.init(exactly:))
                else { return nil }
                return (decidedAt, count)
            }
            readers[name] = value["readBy"].map(DecoderIdentity.init)
        }
    }

    /// The ledger after a compaction.
    ///
    /// - Parameters:
    ///   - retained: The state after the compaction.
    ///   - earlier: The ledger before.
    ///   - dropped: The messages of each source that earlier compactions dropped. In the order of the ledger they are in
    ///     that of `earlier`, since none is forgotten.
    ///   - decidedAt: The head when this compaction was decided.
    init(
        of retained: LogState,
        earlier: DropLedger,
        _ dropped: [SourceName: CompactedMessages],
        decidedAt: SequenceNumber
    ) {
        for source in retained.sources {
            let known = dropped[source.name] ?? CompactedMessages()
            var left = earlier.runs(of: source.name, count: known.count)[...]
            var ledger = Runs()
            source.parts.messages.compacted.forEachSorted(source.context.names) { key in
                guard known.contains(key) else { return ledger.add(decidedAt.rawValue) }
                ledger.add(left.first?.decidedAt ?? 0)
                if left.isEmpty { return }
                left[left.startIndex].count -= 1
                if left[left.startIndex].count == 0 { left.removeFirst() }
            }
            runs[source.name] = ledger.runs
        }
        readers = earlier.readers
    }

    /// Notes what read the dropped events of some sources.
    mutating func note(_ readers: [SourceName: DecoderIdentity]) {
        self.readers.merge(readers) { _, latest in latest }
    }

    /// The head at which the compaction that dropped a message was decided; `nil` if unknown. Makes the decisions of
    /// the whole source: O(n log n) for each call.
    func decision(of key: MessageKey, in source: SourceState) -> SequenceNumber? {
        decisions(of: source)[key].flatMap { $0 == 0 ? nil : SequenceNumber($0) }
    }

    /// The ledger as canonical JSON.
    var bytes: [UInt8] {
        let names = Set(runs.filter { !$0.value.isEmpty }.keys).union(readers.keys).sorted()
        let sources = names.map { name in
            JSONValue.object([
                "source": .string(name.rawValue),
                "runs": .array((runs[name] ?? []).map { .array([.string(String($0.decidedAt)), .int($0.count)]) }),
                "readBy": readers[name]?.json,
            ])
        }
        return JSONValue.object(["format": .string(Self.format), "sources": .array(sources)]).canonicalBytes
    }

    /// The runs of one source, none of them empty; none if they do not fit the number of its dropped messages, as after
    /// another program's compaction.
    private func runs(of source: SourceName, count: Int) -> [(decidedAt: UInt64, count: Int)] {
        guard let runs = runs[source], runs.allSatisfy({ (0...count).contains($0.count) }),
            runs.reduce(0, { $0 + $1.count }) == count
        else { return [] }
        return runs.filter { $0.count > 0 }
    }

    /// The decisions for one source, 0 where unknown; empty if the ledger does not fit the state.
    func decisions(of source: SourceState) -> [MessageKey: UInt64] {
        let keys = source.parts.messages.compacted.keys(source.context.names) { _ in true }
        let runs = runs(of: source.name, count: keys.count)
        if runs.isEmpty { return [:] }
        let decisions = runs.flatMap { Array(repeating: $0.decidedAt, count: $0.count) }
        assert(decisions.count == keys.count, "every dropped message has one decision")
        return Dictionary(zip(keys, decisions), uniquingKeysWith: { first, _ in first })
    }
}

/// Run-length encodes decisions.
private struct Runs {
    private(set) var runs: [(decidedAt: UInt64, count: Int)] = []

    mutating func add(_ decidedAt: UInt64) {
        if runs.last?.decidedAt == decidedAt {
            runs[runs.count - 1].count += 1
        } else {
            runs.append((decidedAt, 1))
        }
    }
}
