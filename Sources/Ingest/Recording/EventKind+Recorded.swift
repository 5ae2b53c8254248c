import EventLog
import Kinds

/// The kinds of events that recorders append (docs/events.md).
extension EventKind {
    static let gitCommit = EventKind(KnownKind.gitCommit)
    static let gitRewrite = EventKind(KnownKind.gitRewrite)
    static let gatewayFrame = EventKind(KnownKind.gatewayFrame)
    static let gatewayREST = EventKind(KnownKind.gatewayREST)
    static let serverSentEvent = EventKind(KnownKind.serverSentEvent)
    static let itemsMessage = EventKind(KnownKind.itemsMessage)
    static let statusFile = EventKind(KnownKind.statusFile)
    static let realtimeFrame = EventKind(KnownKind.realtimeFrame)
    static let realtimeREST = EventKind(KnownKind.realtimeREST)
    static let cloudKitRecords = EventKind(KnownKind.cloudKitRecords)
    static let socketFrame = EventKind(KnownKind.socketFrame)
    static let httpAnswer = EventKind(KnownKind.httpAnswer)
    static let clientObserved = EventKind(KnownKind.clientObserved)
    static let recorderGap = EventKind(KnownKind.recorderGap)
    static let recorderHTTP = EventKind(KnownKind.recorderHTTP)
    static let recorderLimit = EventKind(KnownKind.recorderLimit)
    static let recorderLink = EventKind(KnownKind.recorderLink)
    static let recorderOversize = EventKind(KnownKind.recorderOversize)
}
