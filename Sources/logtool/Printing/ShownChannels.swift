import Projections

/// The channels of a state with their messages, which are lent one at a time: those of a whole log need not be in memory
/// together.
///
/// Two origins: a state, which lends messages out of its store, and a document, which has rows already (the state of
/// one channel). Printers see no difference.
struct ShownChannels {
    /// One channel and its messages.
    struct Contents {
        let source: String
        let id: String
        /// The channel's row; `nil` if only its messages are known.
        fileprivate(set) var channel: JSONValue?
        /// Rows of a document, in its order; empty if `lender` is set.
        fileprivate var messages: [JSONValue] = []
        fileprivate var deleted: [JSONValue] = []
        /// The channel of a state, which lends its messages instead.
        fileprivate var lender: StateChannel?

        fileprivate init(source: String, id: String) {
            (self.source, self.id) = (source, id)
        }

        fileprivate init(_ channel: StateChannel) {
            self.init(source: channel.source, id: channel.id)
            self.channel = channel.row
            lender = channel
        }

        /// How many messages a section has.
        func count(in section: Section) -> Int {
            lender?.count(in: section) ?? (section == .messages ? messages : deleted).count
        }

        /// Lends the message at an index of a section.
        func withMessage<Result>(
            in section: Section,
            at index: Int,
            _ body: (ShownMessage) throws -> Result
        ) rethrows -> Result? {
            if let lender { return try lender.withRow(in: section, at: index) { try body(.lent($0)) } }
            return try body(.row((section == .messages ? messages : deleted)[index]))
        }

        /// Whether one of the messages answers another one.
        func hasReplies(in range: Range<Int>) -> Bool {
            if let lender { return range.contains { lender.isReply(at: $0) } }
            return range.contains { messages[$0]["replyTo"] != nil }
        }
    }

    /// Whether the state lists channels at all: if not, a missing name does not mean that the channel is gone.
    let tellsOfChannels: Bool
    /// How many channels there are.
    let count: Int
    /// Gives the channel at an index.
    private let contents: (Int) -> Contents

    /// The channels of a state, without a document of it.
    init(state: LogState, _ options: DocumentOptions) {
        let channels = state.channels(options)
        tellsOfChannels = options.sections?.contains(.channels) ?? true
        count = channels.count
        contents = { Contents(channels[$0]) }
    }

    /// The channels of a document, which has all rows already.
    ///
    /// Keys are source and id, because ids are unique within a source alone. Linear time.
    init(document: JSONValue) {
        var channels: [Contents] = []
        var places: [[String]: Int] = [:]
        func place(_ source: String, _ id: String) -> Int {
            if let place = places[[source, id]] { return place }
            places[[source, id]] = channels.count
            channels.append(Contents(source: source, id: id))
            return channels.count - 1
        }
        for row in document["channels"]?.array ?? [] {
            channels[place(row.text("source"), row.text("id"))].channel = row
        }
        for row in document["messages"]?.array ?? [] {
            channels[place(row.text("source"), row.text("channel"))].messages.append(row)
        }
        for row in document["deletedMessages"]?.array ?? [] {
            channels[place(row.text("source"), row.text("channel"))].deleted.append(row)
        }
        tellsOfChannels = document["channels"] != nil
        count = channels.count
        contents = { [channels] in channels[$0] }
    }

    /// Lends the channels one after another: those with a row first, in the document's order. Each call lends them
    /// anew.
    func forEach(_ body: (Contents) throws -> Void) rethrows {
        for place in 0..<count { try body(contents(place)) }
    }
}
