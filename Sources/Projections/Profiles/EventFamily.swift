import EventLog

/// The kinds of events that one decoder reads. `unknown` is for kinds that no decoder reads, which become issues.
enum EventFamily: Sendable {
    case git, gateway, gatewayAnswer, items, status, cloudRecords, realtime, link, gap, oversize, unknown
    /// Recorders' notes about their own work, such as HTTP statuses and rate limits. They are not part of the state.
    case notice

    /// Kinds that more than one place in the code names.
    static let gatewayAnswerKind = "gateway.rest/1"
    static let realtimeAnswerKind = "realtime.rest/1"
    static let cloudRecordsKind = "cloudkit.records/1"
    static let gapKind = "recorder.gap/1"

    /// The family of a kind, its version included: a newer version of a format is `unknown` until a decoder reads it.
    init(kind: EventKind) {
        switch kind.rawValue {
        case "git.commit/1", "git.rewrite/1": self = .git
        case "gateway.frame/1": self = .gateway
        case "items.message/1", "sse.event/1": self = .items
        case "status.file/1": self = .status
        case Self.gatewayAnswerKind: self = .gatewayAnswer
        case "realtime.frame/1", Self.realtimeAnswerKind: self = .realtime
        case Self.cloudRecordsKind: self = .cloudRecords
        case Self.gapKind: self = .gap
        case "recorder.http/1", "recorder.limit/1": self = .notice
        case "recorder.link/1": self = .link
        case "recorder.oversize/1": self = .oversize
        default: self = .unknown
        }
    }
}
