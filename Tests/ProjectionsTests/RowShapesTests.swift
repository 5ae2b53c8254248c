import EventLog
import JSON
import TestSupport
import Testing

@testable import Projections

/// Records and changes that are read as the ones before were are those that a reader without memory finds.
@Suite struct RowShapesTests {
    /// Draws texts of objects that share some names, in orders of their own, and damages some.
    private struct Texts {
        var random: SeededGenerator

        private mutating func pick<Element>(_ elements: [Element], _ other: Element) -> Element {
            elements.randomElement(using: &random) ?? other
        }

        private mutating func isRare(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

        private mutating func value() -> String {
            let values = [
                "null", "true", "1", "-0", "1.0", "12345678901234567890", "\"tea\"", "\"größer\"", "\"a\\u0062\"",
                "[1,{}]",
                "{\"b\":1,\"a\":2}", "\"2026-01-01T00:00:00Z\"",
            ]
            return pick(values, "0")
        }

        /// An object with some of the names, mostly those of a table in its order.
        mutating func object(_ names: [String]) -> String {
            var chosen = isRare(2) ? names : names.filter { _ in !isRare(6) }
            if isRare(8) { chosen.shuffle(using: &random) }
            if isRare(12), let name = chosen.first { chosen.append(name) }
            if isRare(4) { chosen.append(pick(["nonce", "flags", "\\u0069d"], "")) }
            let members = chosen.map { name in
                let space = isRare(40) ? " " : ""
                return "\(space)\"\(name)\"\(space):\(space)\(value())\(space)"
            }
            return "{\(members.joined(separator: ","))}"
        }

        mutating func frame(_ names: [String]) -> String {
            let listed = (names + (isRare(3) ? ["nonce"] : [])).map { "{\"name\":\"\($0)\",\"type\":\"text\"}" }
            var data = [
                "\"schema\":\"public\"", "\"table\":\"\(pick(["notes", "tasks"], "files"))\"",
                "\"type\":\"\(pick(["INSERT", "UPDATE", "DELETE"], ""))\"",
                "\"commit_timestamp\":\"2026-01-01T00:00:00.\(Int.random(in: 100...999, using: &random))Z\"",
                "\"errors\":\(pick(["null", "[\"Error 413: Payload Too Large\"]"], "null"))",
                "\"columns\":[\(listed.joined(separator: ","))]", "\"record\":\(object(names))",
            ]
            if isRare(2) { data.append("\"old_record\":{\"id\":\"7\"}") }
            if isRare(8) { data.append("\"more\":\(value())") }
            if isRare(8) { data.shuffle(using: &random) }
            if isRare(16) { data.append(data[Int.random(in: 0..<data.count, using: &random)]) }
            let text = "{\(data.joined(separator: ","))}"
            return "{\"topic\":\"t\",\"event\":\"postgres_changes\",\"payload\":{\"ids\":[1],\"data\":\(text)}}"
        }

        /// The bytes of a text, of every few one damaged.
        mutating func bytes(_ text: String) -> [UInt8] {
            var bytes = Array(text.utf8)
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<16, using: &random) {
            case 0: bytes.removeSubrange(place...)
            case 1: bytes.remove(at: place)
            case 2: bytes[place] = pick(Array("\",:{}[] \\a0".utf8) + [0xC3, 0], 0)
            case 3: bytes.insert(pick(Array("\",:}] ".utf8), 0), at: place)
            default: break
            }
            return bytes
        }
    }

    private static let tables = [
        ["id", "title", "content", "deleted_at", "updated_at"], ["id", "title", "status", "deleted_at"], ["id"], [],
    ]

    @Test(arguments: [1, 2, 3] as [UInt64])
    func aRecordIsReadAsByAReaderWithoutMemory(seed: UInt64) throws {
        print("seed \(seed)")
        var texts = Texts(random: SeededGenerator(seed: seed))
        var shapes = RowShapes()
        var (readCount, refusedCount) = (0, 0)
        for number in 0..<6000 {
            let bytes = texts.bytes(texts.object(Self.tables[number % Self.tables.count]))
            let (found, expected) = bytes.withUnsafeBytes { bytes in
                var empty = RowShapes()
                return (try? shapes.record(bytes), try? empty.record(bytes))
            }
            #expect(found?.object == expected?.object && found?.shape.names == expected?.shape.names)
            #expect(found?.values.map(\.value.value) == expected?.values.map(\.value.value))
            if found == nil { refusedCount += 1 } else { readCount += 1 }
        }
        #expect(readCount > 3000 && refusedCount > 500)
    }

    @Test(arguments: [4, 5, 6] as [UInt64])
    func aChangeIsReadAsByAReaderWithoutMemory(seed: UInt64) throws {
        print("seed \(seed)")
        var texts = Texts(random: SeededGenerator(seed: seed))
        var shapes = RowShapes()
        var changes: Set<String> = []
        for number in 0..<6000 {
            let bytes = texts.bytes(texts.frame(Self.tables[number % Self.tables.count]))
            let found = Self.change(bytes, &shapes)
            var empty = RowShapes()
            #expect(found == Self.change(bytes, &empty), "\(String(decoding: bytes, as: UTF8.self))")
            changes.insert(found)
        }
        #expect(changes.count > 3000)
    }

    /// All that is read of a frame, as a text.
    private static func change(_ bytes: [UInt8], _ shapes: inout RowShapes) -> String {
        bytes.withUnsafeBytes { bytes in
            let frame = RealtimeFrame(bytes, key: FrameKey([1, 2, 3]), &shapes)
            guard case .message = frame.form else { return "\(frame.form)" }
            switch frame.payload.change {
            case .none: return "no change"
            case .some(let row):
                var names = Names()
                let parts = "\(row.identity.normalForm) \(row.record?.object.members ?? []) \(row.hadColumn("id"))"
                do throws(RowChange.Fault) {
                    let change = try RowChange(row, names: &names)
                    return "\(parts) \(names.text(change.table)) \(names.text(change.id)) \(change.columns.names) "
                        + "\(change.committedAt) \(change.operation) \(change.isPartial)"
                } catch {
                    return "\(parts) \(error.reason)"
                }
            }
        }
    }

    @Test(arguments: [7, 8] as [UInt64])
    func aRelationIsThatOfTheNames(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let shapes = (0..<60).map { _ in
            RowShape((0..<12).map { "c\($0)" }.shuffled(using: &random).filter { _ in Bool.random(using: &random) })
        }
        var relations = ShapeRelations()
        // More pairs than are remembered.
        for _ in 0..<8000 {
            let (shape, other) = (
                shapes.randomElement(using: &random) ?? .empty, shapes.randomElement(using: &random) ?? .empty
            )
            let relation = relations.relation(of: shape, to: other)
            #expect(relation.places == shape.names.map { other.names.firstIndex(of: $0) ?? -1 })
            #expect(
                relation.missing.map { shape.names[$0] } == shape.names.filter { !other.names.contains($0) }.sorted()
            )
        }
    }

    @Test func keptColumnsHaveTextsOfTheirOwn() throws {
        let text = Array("{\"title\":\"tea\",\"id\":1,\"a\":{\"b\":[]},\"deleted_at\":null}".utf8)
        var shapes = RowShapes()
        let record = try text.withUnsafeBytes { try shapes.record($0) }
        for places in 0..<16 as Range<UInt64> {
            let stated = StatedColumns(record: record, places: places)
            let (listed, kept) = (ChangedColumns.stated(stated).columns, KeptColumns(stated).columns)
            #expect(kept.map(\.name) == listed.map(\.name) && kept.map(\.name) == kept.map(\.name).sorted())
            #expect(kept.map { $0.value?.value } == listed.map { $0.value?.value })
            #expect(ChangedColumns.stated(stated).meanings == ChangedColumns.listed(listed).meanings)
        }
    }

    @Test func aCopyOfAContentKeepsItsMembers() {
        let first = MessageSaying(text: MessageText("tea"), author: "a")
        var second = first
        second.author = "b"
        #expect(first.author == "a" && second.author == "b" && first != second)
        second.author = "a"
        #expect(first == second && first.hashValue == second.hashValue)
    }
}
