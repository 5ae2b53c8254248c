import Foundation
import TestSupport

/// Random frames of a gateway, and the chat that they give by `docs/semantics.md`.
struct GatewayModel {
    /// One frame, as a connection carries it.
    struct Frame {
        var connection: String
        var text: String
    }

    /// What a frame without its number says.
    private struct Sent {
        var name: String
        var data: String
        var apply: (inout ChatModel) -> Void
    }

    private(set) var chat = ChatModel { (Int($0.id) ?? 0) < (Int($1.id) ?? 0) }
    private var random: SeededGenerator
    private var connection = 0
    private var number = 0
    private var lastID = 100
    private var lastTime = 0
    /// Frames that a connection sent, without their number.
    private var sent: [Sent] = []
    private var deletedChannels: Set<String> = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// The frames of one connection, each applied to `chat`.
    mutating func frames(_ count: Int) -> [Frame] {
        connection += 1
        number = 0
        return [hello()] + (0..<count).map { _ in frame() }
    }

    private func hello() -> Frame {
        Frame(connection: "c\(connection)", text: #"{"op":10,"d":{"heartbeat_interval":41250}}"#)
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func frame() -> Frame {
        // A frame that is replayed comes with a new number.
        let isReplay = pick(0...9) == 0
        if !isReplay || sent.isEmpty { add() }
        let frame = isReplay ? sent[sent.count - pick(1...min(30, sent.count))] : sent[sent.count - 1]
        frame.apply(&chat)
        number += 1
        let text = #"{"op":0,"d":\#(frame.data),"s":\#(number),"t":"\#(frame.name)"}"#
        return Frame(connection: "c\(connection)", text: text)
    }

    private mutating func add() {
        guard lastID > 100 else { return add(version: lastID + 1, edited: nil) }
        switch pick(0...19) {
        case 0...3:
            lastTime += 1
            // An edit may be of a message that was never seen, and its creation come later.
            add(version: pick(0...9) == 0 ? lastID + 1 : anyID(), edited: lastTime)
        case 4: add(version: anyID(), edited: pick(0...lastTime))
        case 5: add(version: anyID(), edited: nil)
        case 6...7: deleteMessage(anyID())
        case 8 where pick(0...7) == 0: deleteChannel("1\(pick(0...2))")
        default: add(version: lastID + 1, edited: nil)
        }
    }

    /// One of all ids, mostly a newer one.
    private mutating func anyID() -> Int {
        pick(0...2) == 0 ? pick(101...lastID) : pick(max(101, lastID - 20)...lastID)
    }

    /// Half an hour after the one with the id before.
    private static func created(_ id: Int) -> Int64 { 1_772_366_400 + Int64(id - 100) * 1_800 }

    private func channel(of id: Int) -> String { "1\(id % 3)" }

    /// A version says the same whenever it is told: its text follows from its id and time.
    private mutating func add(version id: Int, edited time: Int?) {
        lastID = max(lastID, id)
        let channel = channel(of: id)
        let edited = time.map { "2026-03-02T00:\(10 + $0 / 50):\(10 + $0 % 50)Z" }
        let text = "text \(id) at \(time.map(String.init) ?? "first")"
        var data = #"{"id":"\#(id)","channel_id":"\#(channel)","author_id":"\#(id % 5)","content":"\#(text)""#
        let created = Self.created(id)
        data += #","created_at":"\#(Date(timeIntervalSince1970: Double(created)).formatted(.iso8601))""#
        if let edited { data += #","edited_at":"\#(edited)""# }
        data += "}"
        let version = ChatModel.Version(
            author: String(id % 5),
            content: text,
            edited: edited.map { $0.dropLast() + ".000000Z" }
        )
        let isGone = deletedChannels.contains(channel)
        sent.append(
            Sent(name: time == nil ? "MESSAGE_CREATE" : "MESSAGE_UPDATE", data: data) {
                $0.change(channel, String(id), created: "", by: .version(edited ?? "")) { message in
                    message.seconds = created
                    message.versions[edited ?? ""] = version
                    if isGone, message.cause == nil { message.cause = "channel_deleted" }
                }
            }
        )
    }

    private mutating func deleteMessage(_ id: Int) {
        let channel = channel(of: id)
        sent.append(
            Sent(name: "MESSAGE_DELETE", data: #"{"id":"\#(id)","channel_id":"\#(channel)"}"#) {
                $0.change(channel, String(id), created: "", by: .deletionForGood) { $0.cause = "deleted" }
            }
        )
    }

    private mutating func deleteChannel(_ channel: String) {
        deletedChannels.insert(channel)
        sent.append(
            Sent(name: "CHANNEL_DELETE", data: #"{"id":"\#(channel)","guild_id":"1"}"#) { chat in
                chat.goneChannels.insert(channel)
                for message in chat.messages where message.channel == channel && message.cause == nil {
                    chat.change(channel, message.id, created: "") { $0.cause = "channel_deleted" }
                }
            }
        )
    }

    mutating func compact(_ rule: (_ channel: String) -> ChatModel.Rule) { chat.compact(deletesForGood: true, rule) }
}
