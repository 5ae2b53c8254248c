/// Looks for the circle of replies through one message. Serves one search.
///
/// A circle leads from the message up to the one that it answers, and so on, back to the message. Downwards, it leads
/// through the message's answers to the one that the message answers. The search takes a step up and a step down by
/// turns and ends when either way ends. So a message with few answers costs little at the end of a long chain, and a
/// message that answers nothing else costs little above many. Without edits all searches of a log together take O(n log
/// n) steps.
struct CircleSearch {
    private let start: MessageKey
    /// The chain upwards, beginning with `start`: each message answers the next. If it returns to `start`, it is the
    /// circle.
    private var path: [MessageKey] = []
    /// The messages in `path`. The chain may run into a circle that does not contain `start`; then it ends here.
    private var seen: Set<MessageKey> = []
    /// Messages below `start` whose answers are still to be visited.
    private var pending: [MessageKey] = []
    /// The message whose answers are being visited, and the number of the next one (`AnswerTable.answer`); 0 for none
    /// left.
    private var next: (answered: MessageKey, answer: UInt32)
    /// The places visited downwards, so that each counts once.
    private var visited: Set<Int> = []
    /// How many messages the search looked at, in both directions. Tests limit it.
    private(set) var stepCount = 0

    init(from start: MessageKey) {
        self.start = start
        next = (start, 0)
    }

    /// The circle, beginning with the message, in the direction of the replies; `nil` if there is none.
    mutating func circle(in messages: Messages) -> [MessageKey]? {
        next.answer = messages.answers.firstAnswer(to: start)
        var here: MessageKey? = start
        while let key = here, seen.insert(key).inserted {
            path.append(key)
            stepCount += 1
            here = messages.parent(of: key)
            // If nothing is left below the message, no circle leads through it.
            if here != start, !stepDown(in: messages) { return nil }
        }
        return here == start ? path : nil
    }

    /// Visits one more message below `start`. Returns false if none is left: then no message below is one that `start`
    /// answers, directly or not.
    private mutating func stepDown(in messages: Messages) -> Bool {
        while next.answer == 0 {
            guard let key = pending.popLast() else { return false }
            next = (key, messages.answers.firstAnswer(to: key))
        }
        stepCount += 1
        let (place, following) = messages.answers.answer(next.answer)
        let answered = next.answered
        next.answer = following
        // The table keeps entries of messages whose edits answer another message now. They count as a step, too.
        guard messages.store.replyTo(at: place) == answered.id, visited.insert(place).inserted else { return true }
        pending.append(messages.store.key(at: place))
        return true
    }
}
