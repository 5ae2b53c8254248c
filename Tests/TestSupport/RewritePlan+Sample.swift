public import EventLog

extension RewritePlan {
    /// A plan that drops events, with an act that names them.
    public static func dropping(
        _ dropped: [UInt64],
        decidedAt: SequenceNumber,
        facts: [String: [UInt8]] = [:]
    ) throws -> RewritePlan {
        let sequences = dropped.map { SequenceNumber($0) }
        let hash = RewritePlan.droppedHash(of: sequences).hex
        let payload =
            "{\"keep\":500,\"decidedAt\":\"\(decidedAt)\",\"dropped\":\(dropped.count),\"droppedHash\":\"\(hash)\"}"
        let act = DraftEvent(
            recordedAt: Timestamp(seconds: 1_000_000),
            source: .logtool,
            kind: try EventKind("logtool.compact/1"),
            payload: Array(payload.utf8)
        )
        return RewritePlan(dropped: sequences, decidedAt: decidedAt, act: act, facts: facts)
    }
}
