import EventLog

/// Two states of one fold, and the rows in which they may differ.
///
/// Both are whole, or both are parts of whole states. The sources of a part are in the order of a state document, one for
/// each compared channel, so several may have one name. Each is right only for its channel (I21).
struct ComparedStates {
    var earlier = LogState()
    var later = LogState()
    var touched = TouchedRows()

    /// Adds one channel from its fold, which must have been forked; channels must come in the order of a state document.
    ///
    /// - Returns: false if the events behind the fork touched rows that are not the channel's, or left issues. The value
    ///   must not be used then.
    mutating func add(_ fold: ChannelFold) -> Bool {
        // Without an event behind the fork, repeats alone named the channel.
        guard let earlier = fold.earlier else { return true }
        let source = later.sources.count
        self.earlier.sources.append(earlier)
        later.sources.append(fold.state)
        for key in fold.touched {
            guard key.section.isOfChannels, key.first == fold.channel else { return false }
            touched.add(key, of: later, source: source)
        }
        return earlier.issues.count == fold.state.issues.count
    }
}

extension Section {
    /// Whether the first id of a row's key is a channel's, and events that name this channel decide the row.
    var isOfChannels: Bool {
        switch self {
        case .channels, .messages, .deletedMessages, .typing: true
        case .guilds, .members, .roles, .bans, .presences, .voiceStates, .readStates: false
        case .items, .sessions, .sessionAggregates, .prompts, .rows, .issues: false
        }
    }
}
