import EventLog
import TestSupport
import Testing

@testable import Projections

/// Frames of a gateway that name one message id with several channels.
@Suite struct StrayMessageTests {
    @Test func aDeletionThatNamesAnotherChannelDeletesTheMessage() throws {
        let (create, delete) = (Self.write("1", in: "10"), Self.delete("1", in: "11"))
        let state = try Self.state([create, delete])
        #expect(Self.places(state, .deletedMessages) == ["10/1"])
        #expect(Self.places(state, .messages).isEmpty)
        #expect(Self.ids(state, .channels) == ["10"], "a channel that only the deletion named does not come into being")
        #expect(Self.contents(state, .deletedMessages) == ["text"], "a tombstone has the last text")
        let swapped = try Self.state([delete, create])
        #expect(Self.places(swapped, .deletedMessages) == ["10/1"], "in whatever order")
        #expect(Self.contents(swapped, .deletedMessages) == ["text"])
    }

    @Test func aMessageIsInTheChannelOfItsCurrentVersion() throws {
        let first = Self.write("1", in: "10"), second = Self.write("1", in: "11", editedAt: 5, "edited")
        for frames in [[first, second], [second, first]] {
            let state = try Self.state(frames)
            #expect(Self.places(state, .messages) == ["11/1"])
            #expect(Self.contents(state, .messages) == ["edited"])
            #expect(state.rows(in: .messages, asOf: Timestamp(seconds: 0)).first?["revisions"] == .int(2))
        }
        let history = try #require(try Self.state([first, second]).sources[0].parts.messages.store.records.first)
        let words = history.entries.map { "\($0.event.sequence) \($0.historyEntry(names: Names()).change)" }
        #expect(words == ["1 created", "2 moved", "2 edited"])
    }

    @Test func aReactionBelongsToTheMessageWithTheId() throws {
        let reaction = Self.reaction("1", in: "11")
        for frames in [[Self.write("1", in: "10"), reaction], [reaction, Self.write("1", in: "10")]] {
            let state = try Self.state(frames)
            #expect(Self.places(state, .messages) == ["10/1"])
            let row = try #require(state.rows(in: .messages, asOf: Timestamp(seconds: 0)).first)
            #expect(row["reactions"]?.array?.count == 1)
        }
    }

    @Test func aDeletionWithoutAChannelIsAnIssue() throws {
        let state = try Self.state([Self.write("1", in: "10"), #"{"op":0,"t":"MESSAGE_DELETE","d":{"id":"1"}}"#])
        #expect(Self.places(state, .messages) == ["10/1"])
        #expect(state.issues.map(\.issue.reason) == [#"MESSAGE_DELETE: "d.channel_id" is missing"#])
    }

    /// Versions, deletions and reactions in any order give what the rule says (`docs/semantics.md`, "Messages"), the digest
    /// that a state made anew has, and the same after saving.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func anyFramesGiveWhatTheRuleSays(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var (frames, model): ([String], [String: Model]) = ([], [:])
        for number in 0..<60 {
            let id = "\(Int.random(in: 1...9, using: &random))"
            let channel = "\(Int.random(in: 10...13, using: &random))"
            switch Int.random(in: 0...6, using: &random) {
            case 0:
                frames.append(Self.delete(id, in: channel))
                model[id, default: Model()].delete(in: channel)
            case 1:
                frames.append(Self.reaction(id, in: channel))
            default:
                let second = Int.random(in: 0...40, using: &random)
                let isPlain = Bool.random(using: &random)
                frames.append(Self.write(id, in: channel, editedAt: second, "text \(number)", isPlain: isPlain))
                model[id, default: Model()].write(in: channel, "text \(number)", editedAt: second)
            }
        }
        var state = try Self.state(frames)
        let expected = model.map { ($0.value.isDeleted, "\($0.value.channel)/\($0.key)", $0.value.text) }
        for isDeleted in [false, true] {
            let section: Section = isDeleted ? .deletedMessages : .messages
            let meant = expected.filter { $0.0 == isDeleted }.sorted { $0.1 < $1.1 }
            #expect(Self.places(state, section).sorted() == meant.map(\.1))
            let texts = state.rows(in: section, asOf: Timestamp(seconds: 0)).map {
                ("\($0["channel"]?.string ?? "")/\($0["id"]?.string ?? "")", $0["content"]?.string)
            }
            #expect(texts.sorted { $0.0 < $1.0 }.map(\.1) == meant.map(\.2))
        }
        let (digest, form) = (state.digest(), state.normalFormHash)
        var whole = try Self.state(frames, digesting: false)
        #expect(whole.digest() == digest)
        #expect(whole.normalFormHash == form)
    }

    /// The message as the rule has it.
    private struct Model {
        var isDeleted = false
        var channel = ""
        var text: String?
        private var editedAt = -1

        mutating func delete(in channel: String) {
            if text == nil, !isDeleted { self.channel = channel }
            isDeleted = true
        }

        mutating func write(in channel: String, _ text: String, editedAt: Int) {
            guard editedAt >= self.editedAt else { return }
            (self.channel, self.text, self.editedAt) = (channel, text, editedAt)
        }
    }

    private static func write(
        _ id: String,
        in channel: String,
        editedAt second: Int = 0,
        _ text: String = "text",
        isPlain: Bool = true
    ) -> String {
        let edited = second == 0 ? "null" : #""2026-03-01T12:00:\#(10 + second)Z""#
        let author = isPlain ? #""author_id":"7""# : #""author_id":"7","n\u0065w":null"#
        return
            #"{"op":0,"t":"MESSAGE_UPDATE","d":{"id":"\#(id)","channel_id":"\#(channel)",\#(author),"content":"\#(text)","#
            + #""created_at":"2026-03-01T12:00:00Z","edited_at":\#(edited)}}"#
    }

    private static func delete(_ id: String, in channel: String) -> String {
        #"{"op":0,"t":"MESSAGE_DELETE","d":{"id":"\#(id)","channel_id":"\#(channel)","guild_id":"5"}}"#
    }

    private static func reaction(_ id: String, in channel: String) -> String {
        let data = #"{"message_id":"\#(id)","channel_id":"\#(channel)","user_id":"3","emoji":"A"}"#
        return #"{"op":0,"t":"MESSAGE_REACTION_ADD","d":\#(data)}"#
    }

    /// The state after frames that come in, by the short way where it takes them.
    ///
    /// - Parameter digesting: whether the digest is asked for along the way, so that it is kept up to date.
    private static func state(_ frames: [String], digesting: Bool = true) throws -> LogState {
        var state = LogState()
        for (index, frame) in frames.enumerated() {
            let envelope = Envelope(
                sequence: SequenceNumber(UInt64(index + 1)),
                recordedAt: Timestamp(seconds: Int64(index + 1)),
                source: try SourceName("guild"),
                kind: try EventKind("gateway.frame/1"),
                key: nil,
                attributes: try Attributes([]),
                holding: .whole
            )
            Array(frame.utf8).withUnsafeBytes { state.apply(envelope, payload: $0) }
            if digesting { _ = state.digest() }
        }
        return state
    }

    private static func places(_ state: LogState, _ section: Section) -> [String] {
        state.rows(in: section, asOf: Timestamp(seconds: 0)).map {
            "\($0["channel"]?.string ?? "?")/\($0["id"]?.string ?? "?")"
        }
    }

    private static func ids(_ state: LogState, _ section: Section) -> [String] {
        state.rows(in: section, asOf: Timestamp(seconds: 0)).compactMap { $0["id"]?.string }
    }

    private static func contents(_ state: LogState, _ section: Section) -> [String] {
        state.rows(in: section, asOf: Timestamp(seconds: 0)).compactMap { $0["content"]?.string }
    }
}
