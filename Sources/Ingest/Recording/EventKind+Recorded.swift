import EventLog
import Kinds

/// The kinds of events that recorders append (docs/events.md).
extension EventKind {
    static let gitCommit = EventKind("git.commit/1" as StaticString)
    static let gitRewrite = EventKind("git.rewrite/1" as StaticString)
    static let gatewayFrame = EventKind("gateway.frame/1" as StaticString)
    static let gatewayREST = EventKind("gateway.rest/1" as StaticString)
    static let serverSentEvent = EventKind("sse.event/1" as StaticString)
    static let itemsMessage = EventKind("items.message/1" as StaticString)
    static let statusFile = EventKind("status.file/1" as StaticString)
    static let realtimeFrame = EventKind("realtime.frame/1" as StaticString)
    static let realtimeREST = EventKind("realtime.rest/1" as StaticString)
    static let cloudKitRecords = EventKind("cloudkit.records/1" as StaticString)
    static let recorderGap = EventKind("recorder.gap/1" as StaticString)
    static let recorderHTTP = EventKind("recorder.http/1" as StaticString)
    static let recorderLimit = EventKind(KnownKind.recorderLimit)
    static let recorderLink = EventKind("recorder.link/1" as StaticString)
    static let recorderOversize = EventKind("recorder.oversize/1" as StaticString)
}
