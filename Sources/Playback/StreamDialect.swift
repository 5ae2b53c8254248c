#if Recorders
import EventLog

/// An event stream: recorded events go out unchanged. Nothing waits for the client, which can send nothing. An empty
/// act is a frame that the recorder sent; it gives nothing.
struct StreamDialect: PlayDialect {
    mutating func connectionOpened() {}
    mutating func wireOpened() {}
    mutating func read(_ frame: [UInt8], isOut: Bool) -> [UInt8] { isOut ? [] : frame }
    mutating func need(before act: [UInt8]?, at now: PlayInstant) -> PlayNeed { .go }
    mutating func gaveUp(before act: [UInt8]) {}
    mutating func give(_ act: [UInt8]) -> [UInt8]? { act.isEmpty ? nil : act }
    mutating func hear(_ message: [UInt8], at now: PlayInstant) {}
    mutating func overdue(at now: PlayInstant, isOver: Bool) -> [[UInt8]] { [] }
    var nextDue: PlayInstant? { nil }
    mutating func takeNotes() -> [PlayNote] { [] }
}
#endif
