internal import EventLog

/// Which compaction dropped which message. Stored beside the facts, which name only the messages. Serves `history`
/// alone: no state depends on it, so a damaged or missing ledger only loses these answers.
struct DropLedger {
    /// The name of the value that a rewrite stores.
    static let factName = "drops/1"
    private static let format = "eventlog.drops/1"

    /// For each source, run lengths over its dropped messages, sorted by channel, then id: the next `count` of them
    /// were dropped by the compaction decided at head `decidedAt`, 0 if unknown. Runs instead of ids, which the facts
    /// have already.
    private var runs: [SourceName: [(decidedAt: UInt64, count: Int)]] = [:]

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
        }
    }

    /// The ledger after a compaction.
    ///
    /// - Parameters:
    ///   - retained: The state after the compaction.
    ///   - earlier: What earlier compactions dropped: `decisions(in:)` of the state before.
    ///   - decidedAt: The head when this compaction was decided.
    init(of retained: LogState, earlier: [SourceName: [MessageKey: UInt64]], decidedAt: SequenceNumber) {
        for source in retained.sources {
            let keys = source.parts.messages.sortedCompacted(source.context.names)
            let known = earlier[source.name] ?? [:]
            runs[source.name] = Self.runs(of: keys.map { known[$0] ?? decidedAt.rawValue })
        }
    }

    /// For each dropped message of a state, the head at which its compaction was decided; 0 if unknown.
    func decisions(in state: LogState) -> [SourceName: [MessageKey: UInt64]] {
        var decisions: [SourceName: [MessageKey: UInt64]] = [:]
        for source in state.sources {
            let known = self.decisions(of: source)
            let pairs = source.parts.messages.compacted.lazy.map { ($0, known[$0] ?? 0) }
            decisions[source.name] = Dictionary(uniqueKeysWithValues: pairs)
        }
        return decisions
    }

    /// The head at which the compaction that dropped a message was decided; `nil` if unknown. Makes the decisions of
    /// the whole source: O(n log n) for each call.
    func decision(of key: MessageKey, in source: SourceState) -> SequenceNumber? {
        decisions(of: source)[key].flatMap { $0 == 0 ? nil : SequenceNumber($0) }
    }

    /// The ledger as canonical JSON.
    var bytes: [UInt8] {
        let sources = runs.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { name, runs in
            JSONValue.object([
                "source": .string(name.rawValue),
                "runs": .array(runs.map { .array([.string(String($0.decidedAt)), .int($0.count)]) }),
            ])
        }
        return JSONValue.object(["format": .string(Self.format), "sources": .array(sources)]).canonicalBytes
    }

    /// The decisions for one source; empty if the ledger does not fit the state, as after another program's compaction.
    private func decisions(of source: SourceState) -> [MessageKey: UInt64] {
        let keys = source.parts.messages.sortedCompacted(source.context.names)
        guard let runs = runs[source.name], runs.allSatisfy({ (0...keys.count).contains($0.count) }),
            runs.reduce(0, { $0 + $1.count }) == keys.count
        else { return [:] }
        let decisions = runs.flatMap { Array(repeating: $0.decidedAt, count: $0.count) }
        assert(decisions.count == keys.count, "every dropped message has one decision")
        return Dictionary(zip(keys, decisions), uniquingKeysWith: { first, _ in first })
    }

    /// Run-length encodes the decisions.
    private static func runs(of decisions: [UInt64]) -> [(decidedAt: UInt64, count: Int)] {
        var runs: [(decidedAt: UInt64, count: Int)] = []
        for decision in decisions {
            if runs.last?.decidedAt == decision {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((decision, 1))
            }
        }
        return runs
    }
}

extension Messages {
    /// The messages that compactions dropped, sorted by channel, then id.
    fileprivate func sortedCompacted(_ names: Names) -> [MessageKey] {
        compacted.sorted { $0.precedes($1, names) }
    }
}
