import EventLog

/// The messages of one source, with their histories: live, deleted, and compacted ones, whose keys alone are known.
///
/// The result does not depend on order of arrival where the remote's data decide: versions have their own order, a
/// message that a gateway deleted stays deleted, and a message written into a channel that is gone for ever is gone
/// too.
struct Messages: Fold {
    var store = MessageStore()
    /// The messages that compactions dropped, those that are live again among them; see `admitted`.
    var compacted = CompactedMessages()
    /// The places of the answers to each message. May contain places whose message no longer answers it. Not saved; see
    /// `findAnswers`.
    var answers = AnswerTable()
    /// The channels that are gone for ever, which overrules the standing of their messages.
    var fates = ChannelFates()
    /// The issues of circles of replies, by the event that closed the circle.
    var circles = ReplyCircles()
    /// True if a fold of some channels alone met what concerns others, too: a message that moved to another channel or that
    /// two channels were named with, or an issue, which is of the whole source. Stays false for a fold of all channels.
    var crossesShares = false

    init() {}

    mutating func apply(_ change: Change, in context: inout FoldContext) {
        circles.repeatKnown(in: &context)
        // Before the change itself, so that `state(at:)` sees the fate; the histories follow at the end.
        let fallen = fates.apply(change, at: context.event)
        switch change {
        case .message(let change): apply(change, in: &context)
        // A list of channels that lacks one says nothing of its messages.
        case .channel(.deleted(let channel, let cause, .untilWritten)) where cause != .leftOut:
            empty(channel, cause: cause, in: &context)
        case .channel, .community, .item, .session, .prompt, .row: break
        }
        for channel in fallen { fall(channel, in: &context) }
    }

    private mutating func apply(_ arrived: MessageChange, in context: inout FoldContext) {
        guard let admitted = compacted.isEmpty ? arrived : admitted(arrived, in: &context) else { return }
        let change = broughtHome(admitted, in: &context)
        if store.share != .whole {
            if case .moved(let from, let to, _, _) = change, from.channel != to.channel { crossesShares = true }
            if !store.share.contains(change.key.channel) { return }
        }
        switch change {
        case .written(let write): self.write(write, in: &context)
        case .deleted(let deletion): delete(deletion, in: &context)
        case .moved(let from, let to, let remoteTime, let by):
            move(from: from, to: to, remoteTime: remoteTime, by: by, in: &context)
        case .reaction(let key, let emoji, let user, let present):
            react(key, emoji: emoji, user: user, isPresent: present, in: &context)
        case .reactions(let key, let change): react(key, change, in: &context)
        case .withdrawn(let key, let version): withdraw(version, of: key, in: &context)
        case .stands(let key, let standing): stand(key, standing, in: &context)
        }
    }
}

extension Messages {
    /// The state of a message in the state document. `unknown`: never seen, moved away, or known from a reaction alone.
    /// `compacted`: dropped by a compaction, and not stated whole since.
    enum State: String, Hashable, Sendable {
        case live
        case deleted
        case unknown
        case compacted
    }

    /// The state of the message with a key.
    func state(of key: MessageKey) -> State {
        state(of: key, at: store.place(of: key))
    }

    /// The state of the message with a key, which is at a place if it is known.
    func state(of key: MessageKey, at place: Int?) -> State {
        let known = place.map { state(at: $0) } ?? .unknown
        guard known == .unknown, !compacted.isEmpty, let drop = compacted.drop(of: key) else { return known }
        return drop.isDeletedForGood ? .deleted : .compacted
    }

    /// The state of the message at a place. A packed or written message was written or deleted by name, so the end of its
    /// channel always counts.
    func state(at place: Int) -> State {
        let cell = store.cells[place]
        if cell.form == .record { return state(ofRecordAt: Int(cell.last)) }
        if cell.standing == .deleted || fates.fate(of: store.channels[Int(cell.channel)].id) != nil { return .deleted }
        return cell.standing == .live ? .live : .unknown
    }

    /// The state of a message that is a record: deleted if `end(of:)` has an end. Reads one member after another, as a record
    /// that is handed on is copied.
    private func state(ofRecordAt index: Int) -> State {
        switch store.records[index].standing {
        case .deleted: return .deleted
        case .live, .nowhere: break
        }
        let hasCurrent = store.records[index].current != nil
        if hasCurrent || store.records[index].wasWritten, fates.fate(of: store.records[index].key.channel) != nil {
            return .deleted
        }
        if case .live = store.records[index].standing, hasCurrent { return .live }
        return .unknown
    }

    /// How a message was deleted, by name or with its channel; `nil` if it was not. Deletion by name wins, then the
    /// channel's end, then deletion until written. A message that was never written does not end with its channel.
    @inline(__always)
    func end(of record: MessageRecord) -> MessageRecord.End? {
        if case .deleted(let end) = record.standing, end.cause == .deleted { return end }
        if record.wasWritten || record.current != nil, let fate = fates.fate(of: record.key.channel) {
            return MessageRecord.End(cause: fate.cause, permanence: .forever, since: fate.event)
        }
        if case .deleted(let end) = record.standing { return end }
        return nil
    }

    /// The place of a message, added as an empty record if it is new.
    ///
    /// - Parameter isOfServer: whether the change is one of a server's message; see `MessageStore.Channel`.
    mutating func place(for key: MessageKey, isOfServer: Bool = false) -> Int {
        store.place(of: key) ?? store.add(key, isOfServer: isOfServer)
    }

    /// Changes one record and touches the rows that depend on it: the message's own row, and the rows of its answers if
    /// its state changes. Also notes a new `replyTo` in the table of answers.
    mutating func change(
        _ place: Int,
        in context: inout FoldContext,
        _ body: (inout MessageRecord) -> Void
    ) {
        let key = store.key(at: place)
        let before = state(at: place)
        let answered = store.replyTo(at: place)
        store.change(at: place, body)
        touch(key, in: &context)
        let after = state(at: place)
        if after != before {
            touchAnswers(to: key, in: &context)
            if after == .live { store.noteLive(place) }
        }
        if let replyTo = store.replyTo(at: place), replyTo != answered {
            connect(place, key, to: replyTo, in: &context)
        }
    }

    /// Touches both possible rows of a message: the change may have moved it from one section to the other.
    @inline(__always)
    func touch(_ key: MessageKey, in context: inout FoldContext) {
        context.touch(EntityKey(.messages, key.channel, key.id))
        context.touch(EntityKey(.deletedMessages, key.channel, key.id))
    }

    /// Touches the rows of the answers to a message, which contain its state. O(answers), so left out where nothing
    /// reads touched rows.
    func touchAnswers(to key: MessageKey, in context: inout FoldContext) {
        guard context.notesTouched else { return }
        answers.forEachAnswer(to: key) { place in
            guard store.replyTo(at: place) == key.id else { return }
            context.touch(EntityKey(.messages, key.channel, store.cells[place].id))
        }
    }

    /// Notes that a message answers another one now, and reports the circle of replies that this closes.
    mutating func connect(
        _ place: Int,
        _ key: MessageKey,
        to replyTo: EntityID,
        in context: inout FoldContext
    ) {
        let parent = MessageKey(channel: key.channel, id: replyTo)
        answers.add(place, to: parent)
        // Only a message that is answered already, or by itself, can close a circle.
        guard answers.isAnswered(key) else { return }
        var search = CircleSearch(from: key)
        guard let circle = search.circle(in: self) else { return }
        if store.share != .whole { crossesShares = true }
        circles.report(circle, in: &context)
    }

    /// The key that a message's current version answers, in the same channel; `nil` if it answers none or is not known.
    /// The answered message need not be known.
    func parent(of key: MessageKey) -> MessageKey? {
        guard let place = store.place(of: key), let replyTo = store.replyTo(at: place) else { return nil }
        return MessageKey(channel: key.channel, id: replyTo)
    }
}
