import Projections

/// The channels of a state with their rows, which are made one channel at a time: the messages of a whole log need not
/// be in memory together.
struct ShownChannels {
    /// One channel and its rows.
    struct Contents {
        let source: String
        let id: String
        /// The channel's row; `nil` if only its messages are known.
        var channel: JSONValue?
        var messages: [JSONValue] = []
        var deleted: [JSONValue] = []
    }

    /// Whether the state lists channels at all: if not, a missing name does not mean that the channel is gone.
    let tellsOfChannels: Bool
    /// How many channels there are.
    let count: Int
    /// Makes the channel at an index.
    private let contents: (Int) -> Contents

    /// The channels of a state, without a document of it.
    init(state: LogState, _ options: DocumentOptions) {
        let channels = state.channels(options)
        tellsOfChannels = options.sections?.contains(.channels) ?? true
        count = channels.count
        contents = { place in
            let channel = channels[place]
            return Contents(
                source: channel.source,
                id: channel.id,
                channel: channel.row,
                messages: state.rows(in: .messages, of: channel, options),
                deleted: state.rows(in: .deletedMessages, of: channel, options)
            )
        }
    }

    /// The channels of a document, which has all rows already.
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

    /// Lends the channels one after another: those with a row first, in the document's order. Each call makes them
    /// anew.
    func forEach(_ body: (Contents) throws -> Void) rethrows {
        for place in 0..<count { try body(contents(place)) }
    }
}
