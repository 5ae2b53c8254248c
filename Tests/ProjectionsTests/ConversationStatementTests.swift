import TestSupport
import Testing

@testable import Projections

/// The statement that a row follows saves reading, and changes nothing of what is read.
@Suite struct ConversationStatementTests {
    private struct Read: Equatable {
        var ids: [EntityID] = []
        var texts: [String] = []
        var faults: [String] = []
    }

    /// A message that was read: its index, and the content that its members have.
    private struct Altered: Equatable {
        let index: Int
        let content: String?
    }

    private static func read(
        _ array: String,
        after previous: ConversationStatement,
        _ names: inout Names
    ) throws -> (ConversationStatement, Read, [Altered]) {
        let stored = StoredJSON(Array(array.utf8), 0..<array.utf8.count)
        var faults: [String] = []
        let (read, altered) = stored.withBytes { text in
            var altered: [ConversationStatement.Altered] = []
            let read = ConversationStatement(stored, text: text, after: previous, names: &names, altered: &altered) {
                faults.append($0)
            }
            // The members borrow the text, so what they say is taken here.
            return (
                read,
                altered.map { message in
                    Altered(
                        index: message.index,
                        content: message.members["content"].map { String(decoding: $0.bytes, as: UTF8.self) }
                    )
                }
            )
        }
        let statement = try #require(read)
        let texts = statement.ids.indices.map { Self.text(statement, $0) ?? "" }
        return (statement, Read(ids: statement.ids, texts: texts, faults: faults), altered)
    }

    private static func content(_ statement: ConversationStatement, _ index: Int) -> String? {
        text(statement, index).flatMap { $0.split(separator: ":").last.map { String($0.dropLast()) } }
    }

    private static func text(_ statement: ConversationStatement, _ index: Int) -> String? {
        statement.element(at: index)?.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Elements with few ids, so that they repeat, move, go and come; some have no id.
    private static func element(_ random: inout SeededGenerator, of count: Int) -> String {
        let content = Int.random(in: 0..<3, using: &random)
        let id = Int.random(in: 0..<count, using: &random)
        return id == 0 ? "{\"content\":\(content)}" : "{\"id\":\"m\(id)\",\"content\":\(content)}"
    }

    @Test(arguments: [(1, 8), (2, 8), (3, 700)] as [(UInt64, Int)])
    func isTheSameAfterAnyOther(_ seed: UInt64, _ count: Int) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var names = Names()
        var previous = ConversationStatement()
        var elements: [String] = []
        for _ in 0..<(count > 100 ? 60 : 1500) {
            // Mostly one element changes, comes or goes, as in a chat.
            switch Int.random(in: 0..<6, using: &random) {
            case 0: elements = (0..<count).map { _ in Self.element(&random, of: count) }
            case 1 where !elements.isEmpty: elements.remove(at: Int.random(in: 0..<elements.count, using: &random))
            case 2 where !elements.isEmpty:
                elements[Int.random(in: 0..<elements.count, using: &random)] = Self.element(&random, of: count)
            default:
                let place = Int.random(in: 0...elements.count, using: &random)
                elements.insert(Self.element(&random, of: count), at: place)
            }
            let array = "[\(elements.joined(separator: ","))]"
            let (statement, read, found) = try Self.read(array, after: previous, &names)
            #expect(read == (try Self.read(array, after: ConversationStatement(), &names).1), "\(array)")
            let altered = statement.ids.indices.filter {
                $0 >= previous.ids.count || Self.text(previous, $0) != Self.text(statement, $0)
            }
            #expect(found == altered.map { Altered(index: $0, content: Self.content(statement, $0)) }, "\(array)")
            previous = statement
        }
    }

    @Test func readsNoOtherValue() {
        var names = Names()
        let stored = StoredJSON(Array(#"{"id":"m1"}"#.utf8), 0..<11)
        var altered: [ConversationStatement.Altered] = []
        let isRead = stored.withBytes { text in
            let read = ConversationStatement(
                stored,
                text: text,
                after: ConversationStatement(),
                names: &names,
                altered: &altered
            ) { _ in }
            return read != nil
        }
        #expect(!isRead)
    }
}
