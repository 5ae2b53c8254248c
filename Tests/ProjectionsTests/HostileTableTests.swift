import EventLog
import JSON
import TestSupport
import Testing

@testable import Projections

/// Tables stay fast whatever ids others make up: what is counted is the buckets that searches pass over.
@Suite struct HostileTableTests {
    /// A benign table, at most three quarters full, passes over two buckets and a half an entry at worst.
    private static let stepsPerEntry = 8

    /// Numbers whose hashes by the fixed keys of earlier versions begin with the same twelve bits.
    private static let colliding: [UInt64] = (0..<UInt64(1) << 63).lazy
        .filter { FastHash.mix($0, 0) >> 52 == 0 }
        .prefix(1500).map { $0 }

    private static func id(_ number: UInt64) -> EntityID { EntityID(number: number) ?? .none }

    @Test func theNumbersCollideByAHashThatIsKnown() {
        var table = PlaceTable()
        func hash(_ place: Int) -> UInt64 { FastHash.mix(Self.colliding[place], 0) }
        for place in Self.colliding.indices {
            if table.isFull(for: place) { table.grow(for: place, hash) }
            table.add(hash(place), place: place)
        }
        #expect(table.stepCount(hash) > Self.colliding.count * Self.colliding.count / 4)
    }

    /// Ids that were made to collide, ids that differ in high bits only, ids one after another.
    private static let hostile: [[UInt64]] = [
        colliding,
        (0..<20_000).map { $0 << 48 | 0x5555_5555 },
        (0..<20_000).map { $0 << 32 },
        (0..<20_000).map { 1 << 62 + $0 },
    ]

    @Test(arguments: hostile)
    func messagesWithHostileIDsAreFoundAtOnce(numbers: [UInt64]) {
        var store = MessageStore()
        for number in numbers { _ = store.add(MessageKey(channel: Self.id(7), id: Self.id(number))) }
        #expect(store.stepCount < Self.stepsPerEntry * numbers.count)
        #expect(numbers.indices.allSatisfy { store.key(at: $0).id == Self.id(numbers[$0]) })
        let places = numbers.map { store.place(of: MessageKey(channel: Self.id(7), id: Self.id($0))) }
        #expect(places == Array(numbers.indices))
    }

    @Test(arguments: hostile)
    func channelsWithHostileIDsAreFoundAtOnce(numbers: [UInt64]) {
        var store = MessageStore()
        for number in numbers { _ = store.addedChannel(Self.id(number), isOfServer: true) }
        #expect(store.stepCount < Self.stepsPerEntry * numbers.count)
        #expect(numbers.map { store.channel(Self.id($0)) } == Array(numbers.indices))
    }

    @Test(arguments: hostile)
    func answersToHostileIDsAreFoundAtOnce(numbers: [UInt64]) {
        var answers = AnswerTable()
        for (place, number) in numbers.enumerated() {
            answers.add(place, to: MessageKey(channel: Self.id(number), id: Self.id(3)))
            answers.add(place, to: MessageKey(channel: Self.id(3), id: Self.id(number)))
        }
        #expect(answers.stepCount < 2 * Self.stepsPerEntry * numbers.count)
    }

    @Test(arguments: hostile)
    func postingsOfHostileIDsAreFoundAtOnce(numbers: [UInt64]) {
        var postings = ChannelPostings()
        for number in numbers { postings.add(.reference, at: SequenceNumber(1), of: Self.id(number), source: 0) }
        #expect(postings.stepCount < Self.stepsPerEntry * numbers.count)
    }

    /// One message with reactions of many users, and one user who reacts to many messages.
    @Test(arguments: hostile)
    func reactionsOfHostileUsersAreFoundAtOnce(numbers: [UInt64]) {
        var table = ReactionTable()
        let emojis = ["👍", "🍰"].map { table.addEmoji($0) }
        for _ in 0..<2 {
            for (place, number) in numbers.enumerated() {
                for (message, user) in [(0, Self.id(number)), (place + 1, Self.id(7))] {
                    _ = table.set(to: message, emoji: emojis[place % 2], user: user, sequence: 1, isPresent: true)
                }
            }
        }
        #expect(table.count == 2 * numbers.count)
        #expect(table.stepCount < 2 * Self.stepsPerEntry * numbers.count)
        #expect(table.all(to: 0).map(\.user) == numbers.map { Self.id($0) })
        #expect(table.all(to: numbers.count).map(\.user) == [Self.id(7)])
    }

    @Test func manyEmojisOfOneMessageAreFoundAtOnce() {
        let count = 20_000
        var table = ReactionTable()
        for number in 0..<2 * count {
            let emoji = table.addEmoji("e\(number % count)")
            _ = table.set(to: 3, emoji: emoji, user: Self.id(7), sequence: UInt64(number), isPresent: number < count)
        }
        #expect(table.count == count && table.stepCount < Self.stepsPerEntry * count)
        #expect(table.all(to: 3).allSatisfy { !$0.isPresent && $0.sequence >= count })
    }

    @Test func manyNamesOfOneLengthOfOneAuthorAreFoundAtOnce() {
        let count = 100_000
        var authors = AuthorTable()
        for number in 0..<count {
            let place = Array(String(100_000 + number).utf8).withUnsafeBytes { name in
                authors.place(id: 5, name: JSONText(bytes: name, hasEscapes: false))
            }
            #expect(place == UInt32(number))
        }
        #expect(authors.stepCount < Self.stepsPerEntry * count)
        #expect(authors.name(77_777) == "177777")
    }

    @Test func namesOfManyLengthsStayApart() {
        var authors = AuthorTable()
        let names = (0...40).map { String(repeating: "a", count: $0) } + ["a\u{0}", "\u{0}a", "aaaaaaa\u{0}"]
        for _ in 0..<2 {
            for (number, name) in names.enumerated() {
                let place = Array(name.utf8).withUnsafeBytes { bytes in
                    authors.place(id: 5, name: JSONText(bytes: bytes, hasEscapes: false))
                }
                #expect(place == UInt32(number))
            }
        }
        #expect(authors.place(id: 5, name: nil) == UInt32(names.count))
    }
}
