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

    private static func read(
        _ array: String,
        after previous: ConversationStatement,
        _ names: inout Names
    ) throws -> (ConversationStatement, Read) {
        let text = Array(array.utf8)
        var faults: [String] = []
        let read = ConversationStatement(StoredJSON(text, 0..<text.count), after: previous, names: &names) {
            faults.append($0)
        }
        let statement = try #require(read)
        let texts = statement.ids.indices.map { Self.text(statement, $0) ?? "" }
        return (statement, Read(ids: statement.ids, texts: texts, faults: faults))
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
            let (statement, read) = try Self.read(array, after: previous, &names)
            #expect(read == (try Self.read(array, after: ConversationStatement(), &names).1), "\(array)")
            let altered = statement.ids.indices.filter {
                $0 >= previous.ids.count || Self.text(previous, $0) != Self.text(statement, $0)
            }
            #expect(statement.altered == altered, "\(array)")
            previous = statement
        }
    }

    @Test func readsNoOtherValue() {
        var names = Names()
        let text = Array(#"{"id":"m1"}"#.utf8)
        let read = ConversationStatement(
            StoredJSON(text, 0..<text.count),
            after: ConversationStatement(),
            names: &names
        ) { _ in }
        #expect(read == nil)
    }
}
