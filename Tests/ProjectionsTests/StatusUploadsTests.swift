import EventLog
import TestSupport
import Testing

@testable import Projections

/// What a Mac of VibeStatus remembers of its uploads, beside a model that forgets all sessions that no longer exist with each
/// upload, as the client does.
@Suite struct StatusUploadsTests {
    private struct Model {
        let remembersTheLast: Bool
        var existing: Set<String> = []
        var sent: [String: String] = [:]

        mutating func uploads(_ status: String, of session: String) -> Bool {
            existing.insert(session)
            sent = sent.filter { existing.contains($0.key) }
            if sent[session] == status { return false }
            sent[session] = status
            return true
        }

        mutating func end(_ session: String) {
            guard existing.remove(session) != nil else { return }
            if !existing.isEmpty || !remembersTheLast { sent[session] = nil }
        }
    }

    @Test(arguments: 1...40, [true, false])
    func aSessionIsUploadedAsByTheModel(seed: Int, remembersTheLast: Bool) {
        var random = SeededGenerator(seed: UInt64(seed))
        let last: [ReadingRule] = remembersTheLast ? [.lastSessionIsRememberedAsSent] : []
        let rules = ReadingRules([.sameStatusIsNotUploaded] + last, of: nil)
        var (uploads, model) = (StatusUploads(), Model(remembersTheLast: remembersTheLast))
        let now = Timestamp(seconds: 1_700_000_000)
        var context = FoldContext(
            names: Names(),
            event: EventReference(sequence: SequenceNumber(1), recordedAt: now),
            rules: rules
        )
        for step in 0..<200 {
            let session = "session-\(Int.random(in: 1...3, using: &random))"
            let id = context.names.id(session)
            if Int.random(in: 0..<2, using: &random) == 0 {
                _ = uploads.takeRemoval(of: id, in: context)
                model.end(session)
                continue
            }
            let status = ["idle", "working"].randomElement(using: &random) ?? ""
            let fields = SessionFields(id: id, project: "p", status: status, instant: now)
            let isUploaded = uploads.take(fields, in: context) != nil
            #expect(isUploaded == model.uploads(status, of: session), "seed \(seed), step \(step)")
        }
    }
}
