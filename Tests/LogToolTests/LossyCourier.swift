import EventLog
import Shipping
import TestSupport

/// A courier in memory that loses, doubles, reorders, acknowledges and then forgets, as a seed says.
final class LossyCourier: Courier {
    private var random: SeededGenerator
    private let log: [UInt8]
    private var messages: [UInt64: CourierMessage] = [:]
    private var first: UInt64 = 1
    private var last: UInt64 = 0
    private var exists = false
    /// Messages that come behind later ones.
    private var late: [CourierMessage] = []
    /// Ids that are taken for doubles, those of messages that were forgotten, too.
    private var known: Set<String> = []
    private var acknowledgements = 0

    /// How many of a hundred messages something happens to.
    var mischief = 30
    /// What answers questions; `nil` without a sender.
    var sender: (([UInt8]) throws -> [UInt8])?
    /// Called whenever a receiver waits.
    var whileWaiting: () throws -> Void = {}
    /// How many messages and ids were read, and how many questions were asked.
    private(set) var (reads, ids, questions) = (0, 0, 0)

    init(of log: [UInt8], seed: UInt64) {
        (self.log, random) = (log, SeededGenerator(seed: seed))
    }

    var name: String { "courier" }

    private func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func identity() throws -> [UInt8]? { exists ? log : nil }

    func extent() throws -> CourierExtent? { exists ? CourierExtent(first: first, last: last) : nil }

    func makeStream() throws { exists = true }

    func publish(_ message: CourierMessage) throws {
        guard message.bytes.count <= CourierMessage.bytesMax else { throw Fault() }
        if happens(mischief) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return
            case 1: acknowledgements += 1
            case 2: late.append(message)
            default:
                store(message)
                store(message, again: true)
            }
        } else {
            store(message)
        }
        if happens(10) { deliverLate() }
    }

    private func deliverLate() {
        for message in late.shuffled(using: &random) { store(message) }
        late = []
    }

    private func store(_ message: CourierMessage, again: Bool = false) {
        acknowledgements += 1
        guard known.insert(message.id).inserted || again else { return }
        last += 1
        messages[last] = message
    }

    func acknowledged(within limit: Duration) throws -> Int {
        if happens(50) { deliverLate() }
        defer { acknowledgements = 0 }
        return acknowledgements
    }

    func forEachID(in range: ClosedRange<UInt64>, _ body: (UInt64, String) -> Void) throws {
        for position in range {
            guard let message = messages[position] else { continue }
            ids += 1
            body(position, message.id)
        }
    }

    func message(at position: UInt64) throws -> CourierMessage? {
        reads += 1
        return messages[position]
    }

    func remove(at positions: [UInt64]) throws {
        for position in positions { messages[position] = nil }
    }

    func ask(_ question: [UInt8], within limit: Duration) throws -> [UInt8]? {
        questions += 1
        return happens(mischief / 3) ? nil : try sender?(question)
    }

    func answer(within limit: Duration, _ body: ([UInt8]) throws -> [UInt8]) throws -> Int { 0 }

    func announce() throws {}

    func awaitNews(within limit: Duration) throws {
        deliverLate()
        try whileWaiting()
    }

    // MARK: - What happens to a stream

    struct Fault: Error {}

    /// Forgets its last messages, and counts on from there, or from where it was.
    func forgetTail() {
        let count = UInt64.random(in: 0...(last + 1 - first), using: &random)
        for position in (last - count + 1)..<(last + 1) { messages[position] = nil }
        if happens(50) { last -= count }
    }

    /// Begins anew, with nothing.
    func forgetAll() {
        (messages, first, last) = ([:], 1, 0)
        if happens(50) { known = [] }
    }

    /// Changes bytes of a message.
    func mutate() {
        guard let position = messages.keys.sorted().randomElement(using: &random), let old = messages[position] else {
            return
        }
        var bytes = old.bytes
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        case 1: bytes += (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
        case 2: bytes = messages.values.map(\.bytes).sorted { $0.count < $1.count }.randomElement(using: &random) ?? []
        default:
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
        }
        messages[position] = CourierMessage(subject: old.subject, id: old.id, bytes: bytes)
    }

    /// What it holds, in order.
    var held: [CourierMessage] { messages.sorted { $0.key < $1.key }.map(\.value) }

    /// Takes messages as somebody else publishes them.
    func take(_ others: [CourierMessage]) {
        for message in others { store(message, again: true) }
    }
}
