import Foundation
import Projections
import TestSupport
import Testing

@testable import CacheTables

/// Maps of caches: what they can say, and what is told of a mistake.
@Suite struct CacheMapTests {
    @Test func theProgramsOwnMapIsRead() throws {
        let map = try MappedSchema.own().map
        #expect(map.metaTable == "meta")
        #expect(map.tables.contains { $0.name == "message_revisions" })
    }

    @Test(arguments: [
        (
            "tables: {m: {from: messages, columns: {a: autor}}}",
            "line 1: table \"m\": column \"a\": messages has no member \"autor\""
        ),
        (
            "tables:\n  m:\n    from: mesages\n    columns: {a: id}",
            "line 3: table \"m\": the state has no list \"mesages\""
        ),
        (
            "tables:\n  m:\n    from: messages\n    colums: {a: id}",
            "line 4: table \"m\" has \"colums\", which means nothing"
        ),
        (
            "tables:\n  m:\n    from: messages\n    columns:\n      a: id\n      b: {from: id, as: date}",
            "line 6: table \"m\": column \"b\": as \"date\""
        ),
        ("tables:\n  m:\n    from: messages\n    columns: {a: '{id'}", "line 4: table \"m\": column \"a\": a brace"),
        (
            "tables:\n  m:\n    from: messages\n    columns: {a: '{values.owner}'}",
            "line 4: table \"m\": column \"a\": there is no value \"owner\""
        ),
        (
            "tables:\n  m:\n    from: messages\n    key: [b]\n    columns: {a: id}",
            "line 4: table \"m\": the key has \"b\""
        ),
        (
            "tables:\n  m:\n    from: messages.reaction\n    columns: {a: id}",
            "line 3: table \"m\": messages has no member \"reaction\""
        ),
        (
            "tables:\n  m:\n    from: messages\n    conflict: merge\n    columns: {a: id}",
            "line 4: table \"m\": conflict \"merge\""
        ),
        (
            "tables:\n  m:\n    from: messages\n    where: {kin: a}\n    columns: {a: id}",
            "line 4: table \"m\": messages has no member \"kin\""
        ),
        (
            "tables:\n  m:\n    from: messages\n    columns: {a: replyTo.idd}",
            "line 4: table \"m\": column \"a\": replyTo has no member \"idd\"; it has id, state"
        ),
        (
            "tables:\n  m:\n    from: messages\n    columns: {a: '{source}/{replyTo.sate}'}",
            "line 4: table \"m\": column \"a\": replyTo has no member \"sate\"; it has id, state"
        ),
        (
            "tables:\n  m:\n    from: messages\n    needs: [replyTo.parent]\n    columns: {a: id}",
            "line 4: table \"m\": replyTo has no member \"parent\""
        ),
        (
            "tables:\n  m:\n    from: messages\n    columns: {a: author.name}",
            "line 4: table \"m\": column \"a\": author is no object and has no member \"name\""
        ),
        (
            "tables:\n  m:\n    from: messages\n    columns: {a: reactions.emoji}",
            "reactions is a list; a row for each of its elements comes from messages.reactions"
        ),
        (
            "tables:\n  m:\n    from: messages.reactions\n    columns: {a: reactions.user}",
            "reactions has no member \"user\"; it has emoji, users"
        ),
        (
            "tables:\n  m:\n    from: messages.author\n    columns: {a: id}",
            "line 3: table \"m\": author of messages is no list"
        ),
        (
            "tables:\n  m:\n    from: messageHistory\n    columns: {a: fields.text}",
            "line 4: table \"m\": column \"a\": fields has no member \"text\"; it has author, "
        ),
        ("tables: []", "line 1: tables is no mapping"),
        ("a: [", "line 2: it is no valid YAML"),
        (
            "tables:\n  m: {from: messages, columns: {a: {from: id, text: id}}}",
            "line 2: table \"m\": column \"a\" needs one of"
        ),
        ("meta: M\ntables:\n  m: {from: messages, columns: {a: id}}", "line 3: M is the table of the sequence"),
    ])
    func aMistakeNamesItsLineAndMember(text: String, reason: String) throws {
        let failure = try #require(throws: EngineError.self) { try CacheMapReader(name: "app.yaml").read(text) }
        #expect(failure.description.hasPrefix("read map \"app.yaml\": "))
        #expect(failure.description.contains(reason), "\(failure)")
        #expect(failure.code == .trouble)
    }

    /// What a remote decides cannot be checked.
    @Test(arguments: [
        "from: messages, columns: {a: extra.any.thing}", "from: messages.attachments, columns: {a: attachments.url}",
        "from: rows, columns: {a: record.title}", "from: rowHistory, columns: {a: fields.title, b: known.title}",
        "from: rows.record.tags, columns: {a: record.tags.name, b: place}",
    ])
    func membersOfTheRemoteAreTaken(table: String) throws {
        #expect(try CacheMapReader(name: "app.yaml").read("tables: {m: {\(table)}}").tables.count == 1)
    }

    @Test func aColumnTakesAMemberATemplateOrAConstant() throws {
        let rows = try rows(
            """
            values: {owner: ada}
            tables:
              m:
                from: messages
                where: {channel: "10"}
                needs: [replyTo.id]
                columns:
                  a: id
                  b: "{values.owner}/{channel}/{id}"
                  c: {value: 7}
                  d: {from: createdAt, as: unix-ms}
                  e: {from: createdAt, as: apple}
                  f: {from: id, as: integer}
                  g: {from: editedAt, default: none}
                  h: {from: replyTo, as: json}
            """,
            of: """
                {"source":"s","channel":"10","id":"5","createdAt":"2026-01-01T00:00:00.250000Z","replyTo":{"id":"4","state":"live"}}
                {"source":"s","channel":"10","id":"6"}
                {"source":"s","channel":"11","id":"7","replyTo":{"id":"4","state":"live"}}
                """
        )
        #expect(
            rows == [
                #"["5","ada/10/5",7,1767225600250,788918400.25,5,"none","{\"id\":\"4\",\"state\":\"live\"}"]"#
            ]
        )
    }

    @Test func aListWithinARowGivesARowForEachElement() throws {
        let rows = try rows(
            """
            tables:
              r:
                from: messages.reactions.users
                columns: {message: id, emoji: reactions.emoji, user: reactions.users, place: place}
            """,
            of: """
                {"source":"s","channel":"10","id":"5","reactions":[{"emoji":"a","users":["1","2"]},{"emoji":"b","users":["1"]}]}
                {"source":"s","channel":"10","id":"6"}
                """
        )
        #expect(rows == [#"["5","a","1",0]"#, #"["5","a","2",1]"#, #"["5","b","1",0]"#])
    }

    private func rows(_ map: String, of lines: String) throws -> [String] {
        let table = try #require(try CacheMapReader(name: "app.yaml").read(map).tables.first)
        var rows: [String] = []
        for line in lines.split(separator: "\n") {
            let batch = CellBatch()
            table.addRows(of: .value(try .parse(Array(line.utf8))), target: 0, to: batch)
            batch.forEachTarget { target in
                batch.withRows { lent in
                    var row = target.first
                    while row >= 0 {
                        let cells = lent.cells(ofRow: row)
                        let values = cells.indices.map { SQLiteValue(cells[$0]) }
                        rows.append("[" + values.map(\.json.text).joined(separator: ",") + "]")
                        row = lent.next(after: row)
                    }
                }
            }
        }
        return rows
    }
}
