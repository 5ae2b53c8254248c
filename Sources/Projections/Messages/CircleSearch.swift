/// Looks for the circle of replies through one message.
///
/// A circle leads from the message up to what it answers, and so on, back to it; from the message down, its answers lead to
/// what it answers. The search takes a step up and a step down by turns and ends when either way ends. So a message that few
/// messages answer costs little at the end of a long chain, and a message that answers nothing else costs little above many.
/// Without edits all searches of a log together take O(n log n) steps.
struct CircleSearch {
    private let start: MessageKey
    /// The chain that the message answers, beginning with itself.
    private var path: [MessageKey] = []
    private var seen: Set<MessageKey> = []
    /// Messages whose answers are to be visited, and the number of the next answer to visit; see `AnswerTable`.
    private var pending: [MessageKey] = []
    private var next: (answered: MessageKey, answer: UInt32)
    private var visited: Set<Int> = []
    /// How many messages were looked at.
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
            // Below the message is nothing left that it could answer.
            if here != start, !stepDown(in: messages) { return nil }
        }
        return here == start ? path : nil
    }

    /// Visits one more message below the first; false if none is left, and none of them was the one that the first answers.
    private mutating func stepDown(in messages: Messages) -> Bool {
        while next.answer == 0 {
            guard let key = pending.popLast() else { return false }
            next = (key, messages.answers.firstAnswer(to: key))
        }
        stepCount += 1
        let (place, following) = messages.answers.answer(next.answer)
        let answered = next.answered
        next.answer = following
        // Edits leave entries of messages that answer another one now.
        guard messages.store.replyTo(at: place) == answered.id, visited.insert(place).inserted else { return true }
        pending.append(messages.store.key(at: place))
        return true
    }
}
