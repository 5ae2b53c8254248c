import EventLog
import TestSupport
import Testing

@testable import Projections

/// The columns of a row against a model that keeps each column by itself.
@Suite struct RowColumnsTests {
    /// One column of the model: the last change that gave its value, that named it, that lacked its value.
    private struct Known {
        var value: String?
        var given: RowRegister.Position?
        var named: RowRegister.Position?
        var lacked: RowRegister.Position?

        var isEmpty: Bool { given == nil && named == nil && lacked == nil }
        var isUnknown: Bool { given == nil && named != nil }

        var isStale: Bool {
            guard let given, let lacked else { return false }
            return given < lacked
        }
    }

    private struct Model {
        var columns: [String: Known] = [:]

        /// Whether the change told anything, and the columns whose values differ afterwards.
        mutating func set(_ change: RowChange, at position: RowRegister.Position) -> (isNews: Bool, changed: [String]) {
            var (isNews, changed) = (false, [String]())
            for name in change.record.shape.names {
                var known = columns[name, default: Known()]
                if let given = known.given, given >= position { continue }
                let value = change.record[name]?.canonicalText
                if known.value != value { changed.append(name) }
                (known.value, known.given, isNews) = (value, position, true)
                columns[name] = known
            }
            for name in change.columns.names {
                var known = columns[name, default: Known()]
                if known.named ?? position <= position { (known.named, isNews) = (position, true) }
                if change.isPartial, change.record[name] == nil, known.lacked ?? position <= position {
                    (known.lacked, isNews) = (position, true)
                }
                columns[name] = known
            }
            return (isNews, changed.sorted { ExactText.precedes($0, $1) })
        }

        mutating func forget(upTo position: RowRegister.Position) {
            columns = columns.mapValues { known in
                var left = known
                if let given = known.given, given <= position { (left.given, left.value) = (nil, nil) }
                if let named = known.named, named <= position { left.named = nil }
                if let lacked = known.lacked, lacked <= position { left.lacked = nil }
                return left
            }
            columns = columns.filter { !$0.value.isEmpty }
        }

        func names(where condition: (Known) -> Bool) -> [String] {
            columns.filter { condition($0.value) }.keys.sorted { ExactText.precedes($0, $1) }
        }
    }

    @Test(arguments: 0..<60) func anyOrderOfChangesIsAsColumnByColumn(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        // Few names for rows whose changes overlap, many for entries that are added by the dozen, and more than 64, whose changes
        // are listed by name.
        let names = (0..<[40, 5, 5, 90][seed % 4]).map { "c\($0)" }
        var (shapes, relations) = (RowShapes(), ShapeRelations())
        var (columns, model) = (RowColumns(), Model())
        for sequence in 1...80 {
            let position = RowRegister.Position(
                committedAt: Timestamp(seconds: Int64.random(in: 0..<40, using: &random)),
                sequence: UInt64(sequence)
            )
            if Int.random(in: 0..<12, using: &random) == 0 {
                columns.forget(upTo: position)
                model.forget(upTo: position)
                continue
            }
            let change = try Self.change(names, &shapes, &random)
            var changed: ChangedColumns? = ChangedColumns.none
            let marks = (all: columns.marks, own: columns.marks(of: change))
            let isNews = columns.set(change, at: position, noting: &changed, &relations)
            let expected = model.set(change, at: position)
            #expect(isNews == expected.isNews)
            #expect(changed?.columns.map(\.name) == expected.changed)
            #expect((columns.marks(of: change) == marks.own) == (columns.marks == marks.all))
            #expect(columns.marks.unknown == model.names(where: \.isUnknown))
            #expect(columns.marks.stale == model.names(where: \.isStale))
            #expect(columns.values.map(\.name) == model.names { $0.given != nil })
            #expect(
                columns.values.map(\.value.value.canonicalText) == columns.values.map { model.columns[$0.name]?.value }
            )
            for column in columns.all {
                let known = model.columns[column.name]
                #expect(column.named == known?.named && column.lacked == known?.lacked)
                #expect(column.content?.position == known?.given)
            }
        }
    }

    /// A change with some of the names, each list in an order of its own.
    private static func change(
        _ names: [String],
        _ shapes: inout RowShapes,
        _ random: inout SeededGenerator
    ) throws -> RowChange {
        let isWhole = Bool.random(using: &random)
        func some(_ random: inout SeededGenerator) -> [String] {
            isWhole ? names : names.shuffled(using: &random).filter { _ in Bool.random(using: &random) }
        }
        let members = some(&random).map { "\"\($0)\":\(Int.random(in: 0..<3, using: &random))" }
        let record = try Array("{\(members.joined(separator: ","))}".utf8).withUnsafeBytes { try shapes.record($0) }
        return RowChange(
            table: .none,
            id: .none,
            identity: ChangeIdentity(0),
            columns: Bool.random(using: &random) ? record.shape : RowShape(some(&random)),
            record: record,
            committedAt: Timestamp(seconds: 0),
            operation: .update,
            isPartial: Bool.random(using: &random)
        )
    }
    #if DEBUG
    /// The order in which new columns come, by their names.
    enum NameOrder: CaseIterable {
        case ascending, descending, random

        func names(_ count: Int) -> [String] {
            let names = (0..<count).map { "c\(100_000 + $0)" }
            var random = SeededGenerator(seed: 1)
            return switch self {
            case .ascending: names
            case .descending: names.reversed()
            case .random: names.shuffled(using: &random)
            }
        }
    }

    /// What n changes cost is counted at n and at 4 n.
    @Test(arguments: NameOrder.allCases)
    func changesWithANewColumnEachCostLittleMoreInAWideRow(order: NameOrder) throws {
        let costs = try [500, 2_000].map { try Self.cost(of: order.names($0)) }
        // A search in four times as many entries looks at two more.
        #expect(costs[0].lookCount > 0)
        #expect(costs[1].lookCount < 6 * costs[0].lookCount, "\(costs)")
        #expect(costs[1].lookCount < 250 * 2_000, "\(costs)")
        // The history keeps what each event changed. Numbers have more digits.
        #expect(costs[1].historyBytes < 5 * costs[0].historyBytes, "\(costs)")
    }

    /// The entries that updates of one row look at, and what its history keeps. Each update states a column that none
    /// before had.
    private static func cost(of names: [String]) throws -> (lookCount: Int, historyBytes: Int) {
        let counter = RowColumns.LookCounter()
        var (register, history, shapes, relations) = (RowRegister(), RowHistory(), RowShapes(), ShapeRelations())
        try RowColumns.$lookCounter.withValue(counter) {
            for (index, name) in names.enumerated() {
                let text = "{\"id\":1,\"\(name)\":\(index)}"
                let record = try Array(text.utf8).withUnsafeBytes { try shapes.record($0) }
                let change = RowChange(
                    table: .none,
                    id: .none,
                    identity: ChangeIdentity(UInt128(index)),
                    columns: record.shape,
                    record: record,
                    committedAt: Timestamp(seconds: Int64(index)),
                    operation: index == 0 ? .insert : .update
                )
                let applied = register.apply(change, at: UInt64(index + 1), &relations)
                let effect = try #require(applied)
                #expect(index == 0 || effect.changed.columns.map(\.name) == [name])
                let event = EventReference(
                    sequence: SequenceNumber(UInt64(index + 1)),
                    recordedAt: Timestamp(seconds: Int64(index))
                )
                history.add(effect, of: register, change, at: event)
            }
        }
        #expect(register.values.count == names.count + 1)
        return (counter.count, history.normalForm().canonicalText.utf8.count)
    }
    #endif
}
