import EventLog
import TestSupport
import Testing

@testable import Projections

/// Items and members that are too large to be told whole with each small change (`docs/semantics.md`, Large things).
@Suite struct LargeThingTests {
    private static let extra = String(repeating: "long ", count: 1_500)

    /// Changes of all kinds of one task, which is large at times and moves between two lists.
    private static func tasks(seed: UInt64) -> CostTraffic {
        var random = SeededGenerator(seed: seed)
        var traffic = CostTraffic()
        func whole(_ number: Int) -> String {
            #"{"id":"a","title":"t\#(number)","status":"open","long":"\#(extra)","n":\#(number)}"#
        }
        traffic.row("INSERT", whole(0), table: "tasks")
        for number in 1...160 {
            let at = Int.random(in: 0..<6, using: &random) == 0 ? Int.random(in: 2...160, using: &random) : nil
            let columns: String
            switch Int.random(in: 0..<28, using: &random) {
            case 0:
                traffic.row("DELETE", "{}", table: "tasks", old: #"{"id":"a"}"#)
                continue
            case 1, 2: columns = whole(number)
            case 3: columns = #"{"id":"a","long":"short"}"#
            case 4, 5: columns = #"{"id":"a","deleted_at":\#(number % 2 == 0 ? "null" : "\"2026-02-01\"")}"#
            case 6, 7: columns = #"{"id":"a","project_id":"p\#(number % 2)"}"#
            case 8: columns = #"{"id":"a","status":"\#(number % 2 == 0 ? "trashed" : "open")"}"#
            case 9: columns = #"{"id":"a","title":\#(number % 3 == 0 ? "null" : "\"u\(number)\"")}"#
            case 10: columns = #"{"id":"a","title":"\#(number % 3 == 0 ? "short" : extra)"}"#
            case 11, 12, 13: columns = #"{"id":"a","c\#(number % 7)":\#(number % 3 == 0 ? "null" : "\(number)")}"#
            case 14:
                // Another task, before which or behind which the first one is.
                traffic.task(number % 2 == 0 ? "INSERT" : "DELETE", 1, createdAt: number % 4 * 100)
                continue
            default: columns = #"{"id":"a","n":\#(number % 5)}"#
            }
            let isWhole = columns.hasPrefix(#"{"id":"a","title":"t"#)
            traffic.row(isWhole && number % 3 == 0 ? "INSERT" : "UPDATE", columns, table: "tasks", at: at)
        }
        return traffic
    }

    /// A member with many roles, which are deleted, given again, and deleted several at once.
    private static func members(seed: UInt64) -> CostTraffic {
        var random = SeededGenerator(seed: seed)
        var traffic = CostTraffic()
        traffic.member(5, roles: Array(0..<150))
        for number in 0..<200 {
            switch Int.random(in: 0..<24, using: &random) {
            case 0: traffic.dispatch("GUILD_MEMBER_REMOVE", #"{"guild_id":"9","user_id":"105"}"#)
            case 1: traffic.member(5, roles: Array(number..<number + 120))
            case 2: traffic.member(5, roles: [number, number + 1])
            case 3:
                let ids = (0..<300).filter { $0 % 40 != number % 40 }.map { #"{"id":"\#($0)","name":"r"}"# }
                traffic.add(
                    "gateway.rest/1",
                    #"{"data":[\#(ids.joined(separator: ","))]}"#,
                    ["path": "/api/v1/guilds/9/roles", "status": "200"]
                )
            default:
                let role = Int.random(in: 0..<240, using: &random)
                traffic.dispatch("GUILD_ROLE_DELETE", #"{"guild_id":"9","role_id":"\#(role)"}"#)
            }
        }
        return traffic
    }

    private static let traffics: [@Sendable (UInt64) -> CostTraffic] = [tasks, members]

    @Test(arguments: [0, 1], [1, 2, 3, 4] as [UInt64])
    func walkingTheEntriesGivesTheThing(traffic: Int, seed: UInt64) throws {
        let log = try TemporaryLog(try Self.traffics[traffic](seed).events.map { try $0.draft() })
        let kind: EntityReference.Kind = traffic == 0 ? .item : .member
        let section: Section = traffic == 0 ? .items : .members
        var rows: [SequenceNumber: [EntityReference: JSONValue]] = [:]
        var told: [EntityReference: [HistoryEntry]] = [:]
        var state = LogState()
        for event in try log.events() {
            state.apply(event)
            rows[event.envelope.sequence] = Self.rows(of: state, kind, section)
            // An entry, once made, stays as it is.
            state.forEachHistory {
                guard $0.kind == kind else { return }
                let before = told.updateValue($1, forKey: $0) ?? []
                #expect(Array($1.prefix(before.count)) == before, "\($0)")
            }
        }
        #expect(told.values.contains { $0.contains(where: \.isPartial) })
        #expect(told.values.allSatisfy { $0.first?.isPartial == false })
        for (entity, entries) in told {
            var walk = HistoryWalk(entity)
            for entry in entries {
                let before = walk.known
                walk.take(entry)
                let row = rows[entry.sequence]?[entity]
                #expect(walk.isPresent == (row != nil), "\(entity) \(entry.sequence)")
                for name in ["text", "done", "status", "created", "extra", "roles", "nickname"] where row != nil {
                    #expect(walk.known?[name] == row?[name], "\(entity) \(entry.sequence) \(name)")
                }
                guard entry.isPartial, let changed = entry.before else { continue }
                for column in changed["extra"]?.object?.members ?? [] {
                    #expect(before?["extra"]?[column.name] == column.value, "\(entity) \(entry.sequence)")
                }
                for role in entry.fields["lostRoles"]?.array ?? [] {
                    #expect(before?["roles"]?.array?.contains(role) == true)
                }
            }
        }
        // Single entries are those of the whole history, also after the state was saved.
        let source = try #require(state.sources.first)
        let saved: [any Fold] = [
            try StateDecoder.value(Items.self, from: StateEncoder.bytes(of: source.parts.items)),
            try StateDecoder.value(Community.self, from: StateEncoder.bytes(of: source.parts.community)),
        ]
        let context = source.rowContext(asOf: nil)
        for fold in [saved[traffic], source.fold(for: section)].compactMap({ $0 }) {
            for key in fold.knownKeys(in: section, names: source.context.names) {
                let entries = told[EntityReference(kind: kind, parts: source.parts(of: key))] ?? []
                #expect(!entries.isEmpty)
                for index in entries.indices {
                    let found = fold.history(of: key, in: index..<index + 1, context: context)
                    #expect(found.elementsEqual([entries[index]]), "\(index)")
                }
            }
        }
    }

    /// What a step shows is what differs, and nothing that differs is missing.
    @Test(arguments: [0, 1], [1, 2, 3] as [UInt64])
    func aStepTellsWhatChanged(traffic: Int, seed: UInt64) throws {
        let log = try TemporaryLog(try Self.traffics[traffic](seed).events.map { try $0.draft() })
        let kind: EntityReference.Kind = traffic == 0 ? .item : .member
        let section: Section = traffic == 0 ? .items : .members
        var state = LogState()
        var before: [EntityReference: JSONValue] = [:]
        var events = try log.events()[...]
        try log.store.read { session in
            try Replay.steps(of: session, in: SequenceNumber(1)...session.head) { event, differences in
                guard let next = events.popFirst() else { return false }
                state.apply(next)
                let after = Self.rows(of: state, kind, section)
                let found = Dictionary(grouping: differences.filter { $0.entity.kind == kind }, by: \.entity)
                for entity in Set(before.keys).union(after.keys) {
                    let (old, new) = (before[entity], after[entity])
                    guard old != new else {
                        #expect(found[entity] == nil, "\(event.sequence) \(entity)")
                        continue
                    }
                    let difference = try #require(found[entity]?.first, "\(event.sequence) \(entity)")
                    #expect(difference.change == (old == nil ? .added : new == nil ? .removed : .changed))
                    Self.check(difference, old, new, "\(event.sequence) \(entity)")
                }
                before = after
                return true
            }
        }
        #expect(events.isEmpty)
    }

    private static func check(_ difference: StateDifference, _ old: JSONValue?, _ new: JSONValue?, _ note: Comment) {
        let names = ["position", "text", "done", "status", "created", "nickname"]
        for field in difference.fields {
            if field.name == "lostRoles" {
                let lost = field.b?.array ?? []
                #expect(new?["roles"]?.array == old?["roles"]?.array?.filter { !lost.contains($0) }, note)
            } else if let columns = (field.a ?? field.b)?.object?.members, field.name == "extra" {
                for name in Set(columns.map(\.name) + (field.b?.object?.members.map(\.name) ?? [])) {
                    if old != nil, let value = field.a?[name] { #expect(old?["extra"]?[name] == value, note) }
                    if new != nil { #expect(new?["extra"]?[name] == field.b?[name], note) }
                }
            } else {
                #expect(old?[field.name] == field.a && new?[field.name] == field.b, note)
            }
        }
        guard let old, let new else { return }
        for name in names where old[name] != new[name] {
            #expect(difference.fields.contains { $0.name == name }, note)
        }
        let columns = difference.fields.first { $0.name == "extra" }
        let all = (old["extra"]?.object?.members ?? []) + (new["extra"]?.object?.members ?? [])
        for name in Set(all.map(\.name)) where old["extra"]?[name] != new["extra"]?[name] {
            #expect(columns?.a?[name] == old["extra"]?[name] && columns?.b?[name] == new["extra"]?[name], note)
        }
        if old["roles"] != new["roles"] {
            #expect(difference.fields.contains { ["roles", "lostRoles"].contains($0.name) }, note)
        }
    }

    private static func rows(
        of state: LogState,
        _ kind: EntityReference.Kind,
        _ section: Section
    ) -> [EntityReference: JSONValue] {
        var rows: [EntityReference: JSONValue] = [:]
        for row in state.rows(in: section, asOf: Timestamp(seconds: 0)) {
            let parts = section.keyMembers.compactMap { row[$0]?.string }
            rows[EntityReference(kind: kind, parts: parts)] = row
        }
        return rows
    }

    /// What a compaction keeps gives the same entries, also those that tell only a part.
    @Test(arguments: [0, 1]) func aCompactionKeepsTheEntries(traffic: Int) throws {
        let log = try TemporaryLog(try Self.traffics[traffic](7).events.map { try $0.draft() })
        var whole = LogState()
        for event in try log.events() { whole.apply(event) }
        let kept = whole.retained(by: RetentionPolicy(messagesPerChannel: 3))
        let needed = kept.neededSequences
        var folded = try LogState(facts: kept.facts(keeping: needed))
        for event in try log.events() where needed.contains(event.envelope.sequence.rawValue) { folded.apply(event) }
        #expect(folded.normalFormHash == kept.normalFormHash)
        var histories: [EntityReference: [HistoryEntry]] = [:]
        kept.forEachHistory { histories[$0] = $1 }
        folded.forEachHistory { #expect(histories[$0] == $1, "\($0)") }
    }
}
