import EventLog

/// What identifies a batch: range, state of rewrites, root and content. The ids of its messages spell it, so that a list of ids tells what a
/// stream holds.
struct BatchName: Hashable {
    /// What a batch has: events, or what rewrites left beside them.
    enum What: String {
        case events = "e"
        case remains = "r"
    }

    let what: What
    let first: UInt64
    let last: UInt64
    /// How many messages it has.
    let parts: Int
    /// The state of rewrites of the log that it was made of.
    let state: RewriteState
    /// The first half of the root over all events up to the last, in hex.
    let root: String
    /// The first half of the SHA-256 of all its bytes, in hex.
    let digest: String

    /// The most messages of a batch: events of 128 MiB that do not compress.
    static let partsMax = 4096

    static func half(_ hash: Hash256) -> String { String(hash.hex.prefix(32)) }
}

/// How often a log was rewritten, and a hash of by what. A log only gains rewrites, so more of them are newer.
struct RewriteState: Hashable, Comparable {
    let count: Int
    let token: String

    init(acts: [UInt64], decidedAt: UInt64) {
        count = acts.count
        let text = (acts + [decidedAt]).map(String.init).joined(separator: ",")
        token = acts.isEmpty ? "0" : String(Hasher256.hash(Array(text.utf8)).hex.prefix(16))
    }

    init(count: Int, token: String) {
        (self.count, self.token) = (count, token)
    }

    static func < (left: RewriteState, right: RewriteState) -> Bool {
        (left.count, left.token) < (right.count, right.token)
    }
}

/// The id of a message: of which log, and which part of which batch. A message that got lost behind its acknowledgement is published again
/// under another attempt, because a courier may take the first id for a double.
struct PartID: Hashable {
    /// The log's identity, in hex.
    let identity: String
    let batch: BatchName
    /// Counted from 1.
    let part: Int
    let attempt: Int

    init(identity: String, batch: BatchName, part: Int, attempt: Int) {
        (self.identity, self.batch, self.part, self.attempt) = (identity, batch, part, attempt)
    }

    var text: String {
        [
            identity, "\(batch.what.rawValue)\(batch.first)-\(batch.last)", "\(part)-\(batch.parts)",
            "\(batch.state.count)-\(batch.state.token)", batch.root, batch.digest, String(attempt),
        ].joined(separator: ".")
    }

    /// Reads an id; `nil` for any other text.
    init?(_ text: String) {
        guard text.utf8.count <= 300 else { return nil }
        let fields = text.split(separator: ".", omittingEmptySubsequences: false)
        guard fields.count == 7, let what = fields[1].first.flatMap({ BatchName.What(rawValue: String($0)) }),
            let (first, last) = Self.pair(fields[1].dropFirst()), let (part, parts) = Self.pair(fields[2]),
            let attempt = Int(fields[6]), first >= 1, first <= last, last < UInt64(Int64.max), part >= 1,
            part <= parts, parts <= UInt64(BatchName.partsMax), attempt >= 0
        else { return nil }
        let state = fields[3].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard state.count == 2, let count = Int(state[0]), count >= 0 else { return nil }
        batch = BatchName(
            what: what,
            first: first,
            last: last,
            parts: Int(parts),
            state: RewriteState(count: count, token: String(state[1])),
            root: String(fields[4]),
            digest: String(fields[5])
        )
        (identity, self.part, self.attempt) = (String(fields[0]), Int(part), attempt)
        guard self.text == text else { return nil }
    }

    private static func pair(_ text: Substring) -> (UInt64, UInt64)? {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false)
        guard numbers.count == 2, let first = UInt64(numbers[0]), let last = UInt64(numbers[1]) else { return nil }
        return (first, last)
    }
}
