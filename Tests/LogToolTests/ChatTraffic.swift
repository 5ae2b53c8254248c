import EventLog
import Foundation
import Kinds
import TestSupport

@testable import Projections

/// Random events of a small chat that the decoder file of the scenarios reads.
struct ChatTraffic {
    enum Action {
        case post(id: String, text: String)
        case change(id: String, text: String, revision: Int64)
        case gone(id: String)
        /// The messages of the room as an answer states them, all of them if `isWhole`.
        case list([(id: String, text: String)], isWhole: Bool)
    }

    private var sequence: UInt64 = 1
    private var postCount = 0
    private var revision: Int64 = 0
    /// The messages that quiet traffic has made and not deleted.
    private var live: [String] = []

    /// The state before the first event.
    func start(_ rules: ReadingRules = .canonical) throws -> LogState {
        let folder = PackageRoot.scenarios.appending(path: "any-message-again-after-a-reconnect")
        return try Scenario(folder: folder).start(rules)
    }

    /// An action of traffic in which each event follows from the ones before: new messages, newer edits, deletions.
    mutating func quiet(_ random: inout SeededGenerator) -> Action {
        revision += 1
        let number = Int.random(in: 0..<10, using: &random)
        guard number >= 5, let index = live.indices.randomElement(using: &random) else {
            postCount += 1
            live.append("m\(postCount + 1000)")
            return .post(id: live[live.count - 1], text: "text \(postCount)")
        }
        if number >= 9 { return .gone(id: live.remove(at: index)) }
        return .change(id: live[index], text: "edit \(revision)", revision: revision)
    }

    /// Any action about one of six messages.
    func any(_ random: inout SeededGenerator) -> Action {
        func id() -> String { "m\(Int.random(in: 1...6, using: &random))" }
        func text() -> String { ["x", "y", "z"].randomElement(using: &random) ?? "" }
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: return .post(id: id(), text: text())
        case 4...6: return .change(id: id(), text: text(), revision: Int64.random(in: 1...4, using: &random))
        case 7: return .gone(id: id())
        default:
            let ids = Set((0..<Int.random(in: 0...4, using: &random)).map { _ in id() }).sorted()
            return .list(ids.map { ($0, text()) }, isWhole: Bool.random(using: &random))
        }
    }

    /// The next event.
    mutating func event(_ action: Action) throws -> (envelope: Envelope, payload: [UInt8]) {
        sequence += 1
        var attributes: [Attributes.Pair] = []
        func message(_ id: String, _ text: String, _ revision: Int64? = nil) -> JSONValue {
            .object([
                "key": .string(id), "by": .string("ada"), "text": .string(text),
                "rev": revision.map { .int($0 * 1000) },
            ])
        }
        let payload: JSONValue
        switch action {
        case .post(let id, let text):
            payload = .object(["type": .string("post"), "room": .string("r"), "post": message(id, text)])
        case .change(let id, let text, let revision):
            payload = .object(["type": .string("change"), "room": .string("r"), "post": message(id, text, revision)])
        case .gone(let id): payload = .object(["type": .string("gone"), "room": .string("r"), "key": .string(id)])
        case .list(let messages, let isWhole):
            attributes = [.init(name: "path", value: "/rooms/r/posts"), .init(name: "status", value: "200")]
            payload = .object(["posts": .array(messages.map { message($0.id, $0.text) }), "whole": .bool(isWhole)])
        }
        let envelope = Envelope(
            sequence: SequenceNumber(sequence),
            recordedAt: Timestamp(seconds: 1_767_225_600 + Int64(sequence)),
            source: try SourceName("app"),
            kind: EventKind(attributes.isEmpty ? .socketFrame : .httpAnswer),
            key: nil,
            attributes: try Attributes(attributes),
            holding: .whole
        )
        return (envelope, Array(payload.canonicalText.utf8))
    }
}

extension LogState {
    /// Applies an event of `ChatTraffic`.
    mutating func apply(_ event: (envelope: Envelope, payload: [UInt8])) {
        event.payload.withUnsafeBytes { apply(event.envelope, payload: $0) }
    }
}

/// What a client shows of `ChatTraffic`, told from the descriptions of the readings alone.
struct ChatModel {
    enum Reading: String, CaseIterable {
        case canonical
        case appendsRepeats = "appends-repeats"
        case arrivalOrderWins = "arrival-order-wins"
        case lateDeleteLost = "late-delete-lost"
        case snapshotNeverRemoves = "snapshot-never-removes"
    }

    private struct Message {
        enum Standing { case shown, leftOut, deleted }

        var text: String?
        var revision: Int64?
        var standing: Standing
    }

    let reading: Reading
    /// By the id that is shown, copies too.
    private var messages: [String: Message] = [:]
    private var copies: [String: Int] = [:]
    /// The messages that lists have stated.
    private var listed: Set<String> = []

    init(reading: Reading) {
        self.reading = reading
    }

    var shown: [String] {
        messages.filter { $0.value.standing == .shown }.map { "\($0.key): \($0.value.text ?? "")" }.sorted()
    }

    mutating func apply(_ action: ChatTraffic.Action) {
        switch action {
        case .post(let id, let text):
            if isShown(id) {
                if reading == .appendsRepeats { add(id, text, nil) }
            } else {
                copies[id] = nil
                state(id, text, nil)
            }
        case .change(let id, let text, let revision): restate(id, text, revision)
        case .gone(let id): delete(id, .deleted)
        case .list(let stated, let isWhole):
            for (id, text) in stated {
                restate(id, text, nil)
                listed.insert(id)
            }
            guard isWhole, reading != .snapshotNeverRemoves else { return }
            for id in listed.subtracting(stated.map(\.id)) {
                listed.remove(id)
                delete(id, .leftOut)
            }
        }
    }

    private func isShown(_ id: String) -> Bool { messages[id]?.standing == .shown }

    /// A statement that may be an edit.
    private mutating func restate(_ id: String, _ text: String, _ revision: Int64?) {
        if !isShown(id) { copies[id] = nil }
        if reading == .appendsRepeats, isShown(id), messages[id]?.text == text, messages[id]?.revision == revision {
            return add(id, text, revision)
        }
        for copy in names(of: id) { state(copy, text, revision) }
    }

    /// A version counts if it is not older than the one known.
    private mutating func state(_ id: String, _ text: String, _ revision: Int64?) {
        guard let known = messages[id] else {
            return messages[id] = Message(text: text, revision: revision, standing: .shown)
        }
        if known.standing == .deleted { return }
        let isLate = known.text != nil && (revision ?? 0) < known.revision ?? 0
        if isLate, reading != .arrivalOrderWins { return }
        messages[id] = Message(text: text, revision: revision, standing: .shown)
    }

    private mutating func add(_ id: String, _ text: String, _ revision: Int64?) {
        let count = copies[id] ?? 1
        guard count < 16 else { return }
        copies[id] = count + 1
        state("\(id)#\(count + 1)", text, revision)
    }

    private mutating func delete(_ id: String, _ standing: Message.Standing) {
        if !isShown(id), reading == .lateDeleteLost { return }
        for copy in names(of: id) {
            var message = messages[copy] ?? Message(standing: standing)
            if message.standing != .deleted { message.standing = standing }
            messages[copy] = message
        }
        copies[id] = nil
    }

    private func names(of id: String) -> [String] {
        (1...(copies[id] ?? 1)).map { $0 == 1 ? id : "\(id)#\($0)" }
    }
}
