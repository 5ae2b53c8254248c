/// Maps each answered message to the places of its answers, in order of arrival.
///
/// Only grows: a message that an edit lets answer another one keeps its old entry, so readers compare the answer's
/// current `replyTo`. Derived from the messages and never saved; `Messages.findAnswers` builds it anew after loading
/// and after a compaction.
struct AnswerTable: Sendable {
    /// A message that was answered, known or not.
    private struct Answered: BitwiseCopyable {
        let channel: EntityID
        let id: EntityID
        /// The first and the last answer in `answers`, counted from 1.
        let first: UInt32
        var last: UInt32
    }

    /// One answer, linked to the next one to the same message.
    private struct Answer: BitwiseCopyable {
        /// The answer's place in the `MessageStore`.
        let place: UInt32
        /// The next answer, counted from 1; 0 for the last.
        var next: UInt32 = 0
    }

    /// The answered messages, in the order of their first answers; `table` finds them by key.
    private var answered = Pages<Answered>()
    private var answers = Pages<Answer>()
    private var table = PlaceTable()

    init() {}

    /// True also if the only answers have answered another message since.
    func isAnswered(_ key: MessageKey) -> Bool { find(key) != nil }

    /// Calls `body` with the place of each answer, in order of arrival. A place comes twice if edits led away and back.
    @inline(__always)
    func forEachAnswer(to key: MessageKey, _ body: (Int) -> Void) {
        guard let found = find(key) else { return }
        var next = answered[found].first
        while next > 0 {
            let answer = answers[Int(next) - 1]
            body(Int(answer.place))
            assert(answer.next == 0 || answer.next > next, "answers are linked in order of arrival, so the walk ends")
            next = answer.next
        }
    }

    /// The number of the first answer to a message, for `answer(_:)`; 0 if there is none.
    func firstAnswer(to key: MessageKey) -> UInt32 { find(key).map { answered[$0].first } ?? 0 }

    /// The place of an answer, and the number of the next one to the same message; 0 for the last.
    func answer(_ number: UInt32) -> (place: Int, next: UInt32) {
        let answer = answers[Int(number) - 1]
        return (Int(answer.place), answer.next)
    }

    /// Adds the message at a place as an answer to `key`, which need not be known. O(1); does not look for duplicates.
    mutating func add(_ place: Int, to key: MessageKey) {
        answers.append(Answer(place: UInt32(place)))
        let newest = UInt32(answers.count)
        if let found = find(key) {
            assert(answers[Int(answered[found].last) - 1].next == 0, "no answer follows the last one")
            answers[Int(answered[found].last) - 1].next = newest
            answered[found].last = newest
        } else {
            let place = answered.count
            if table.isFull(for: place) {
                let known = self
                table.grow(for: place) { known.hash(ofPlace: $0) }
            }
            table.add(hash(key), place: place)
            answered.append(Answered(channel: key.channel, id: key.id, first: newest, last: newest))
        }
    }

    @inline(__always)
    private func find(_ key: MessageKey) -> Int? {
        table.find(hash(key)) { answered[$0].id == key.id && answered[$0].channel == key.channel }
    }

    @inline(__always)
    private func hash(_ key: MessageKey) -> UInt64 { table.hash(key.id.rawValue, key.channel.rawValue) }

    private func hash(ofPlace place: Int) -> UInt64 {
        hash(MessageKey(channel: answered[place].channel, id: answered[place].id))
    }

    /// See `PlaceTable.stepCount`.
    var stepCount: Int { table.stepCount { hash(ofPlace: $0) } }
}
