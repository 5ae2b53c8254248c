import EventLog
import Foundation
import Projections

/// How much a state holds: an errand, since counting takes memory of its own.
struct StateSize: Codable {
    var events = 0
    /// Live messages and rows.
    var messages = 0
    var rows = 0
    /// Of the texts of all versions of messages, and of the values of rows.
    var textBytes = 0

    /// Prints the size of the state at a sequence of a log.
    static func answer(_ arguments: [String]) throws {
        guard arguments.count == 2, let sequence = UInt64(arguments[1]) else { return }
        let store = try EventStore.open(at: arguments[0])
        let state = try store.read { try Replay.logState(of: $0, through: SequenceNumber(sequence)) }
        var size = StateSize()
        size.count(state)
        size.events = Int(sequence)
        print(String(decoding: try JSONEncoder().encode(size), as: UTF8.self))
    }

    private mutating func count(_ state: LogState) {
        let time = Timestamp(seconds: 0)
        state.forEachRow(of: .section(.messages), asOf: time) { _ in messages += 1 }
        // The entry of a deletion repeats the last text.
        state.forEachRow(of: .history(.message), asOf: time) { entry in
            guard entry["change"]?.string != "deleted" else { return }
            textBytes += entry["fields"]?["content"]?.string?.utf8.count ?? 0
        }
        state.forEachRow(of: .section(.rows), asOf: time) { row in
            rows += 1
            textBytes += (row["record"]?.object?.members ?? []).reduce(0) { $0 + $1.value.canonicalBytes.count }
        }
    }
}
