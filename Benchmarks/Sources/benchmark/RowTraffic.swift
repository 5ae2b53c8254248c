/// Changes of the rows of four tables, as an app of notes subscribes to them: notes, websites, files, and the jobs that read
/// files. A third of the changes are new rows. The others are steps of jobs, edits, pins, openings and deletions. Half of the pins
/// lack the content: PostgreSQL leaves out a large value that did not change.
struct RowTraffic {
    private struct Table {
        let name: String
        let columns: [(name: String, type: String)]
        /// So many of a hundred changes are of this table.
        let weight: Int
    }

    private static let tables = [
        Table(
            name: "notes",
            columns: [
                ("id", "uuid"), ("title", "text"), ("content", "text"), ("metadata", "jsonb"),
                ("created_at", "timestamptz"), ("updated_at", "timestamptz"), ("last_opened_at", "timestamptz"),
                ("deleted_at", "timestamptz"), ("user_id", "text"), ("is_archived", "bool"),
            ],
            weight: 40
        ),
        Table(
            name: "websites",
            columns: [
                ("id", "uuid"), ("url", "text"), ("url_full", "text"), ("domain", "text"), ("title", "text"),
                ("content", "text"), ("source", "text"), ("saved_at", "timestamptz"), ("published_at", "timestamptz"),
                ("metadata", "jsonb"), ("created_at", "timestamptz"), ("updated_at", "timestamptz"),
                ("last_opened_at", "timestamptz"), ("deleted_at", "timestamptz"), ("user_id", "text"),
                ("is_archived", "bool"), ("reading_time", "text"),
            ],
            weight: 25
        ),
        Table(
            name: "ingested_files",
            columns: [
                ("id", "uuid"), ("user_id", "text"), ("filename_original", "text"), ("mime_original", "text"),
                ("size_bytes", "int8"), ("sha256", "text"), ("created_at", "timestamptz"),
                ("deleted_at", "timestamptz"), ("pinned", "bool"), ("source_url", "text"), ("source_metadata", "jsonb"),
                ("last_opened_at", "timestamptz"), ("path", "text"), ("pinned_order", "int4"),
                ("updated_at", "timestamptz"),
            ],
            weight: 10
        ),
        Table(
            name: "file_processing_jobs",
            columns: [
                ("id", "uuid"), ("file_id", "uuid"), ("status", "text"), ("stage", "text"), ("error_code", "text"),
                ("error_message", "text"), ("attempts", "int8"), ("started_at", "timestamptz"),
                ("finished_at", "timestamptz"), ("updated_at", "timestamptz"), ("worker_id", "text"),
                ("lease_expires_at", "timestamptz"),
            ],
            weight: 25
        ),
    ]

    private var random = SplitMix(state: 17)
    /// The rows of each table, each with its values as JSON texts, in the order of the columns.
    private var rows: [[[String]]] = tables.map { _ in [] }

    /// The next change, as a frame.
    mutating func frame(_ number: Int) -> String {
        var (table, place) = (0, random.below(Self.tables.reduce(0) { $0 + $1.weight }))
        while place >= Self.tables[table].weight {
            place -= Self.tables[table].weight
            table += 1
        }
        let isNew = rows[table].isEmpty || random.below(100) < 35
        let row = isNew ? rows[table].count : random.below(rows[table].count)
        if isNew { rows[table].append(newRow(of: table, number)) }
        let omitted = isNew ? nil : change(row, of: table, number)
        let columns = Self.tables[table].columns
        let members = columns.indices.filter { columns[$0].name != omitted }.map {
            "\"\(columns[$0].name)\":\(rows[table][row][$0])"
        }
        let record = "{\(members.joined(separator: ","))\(UnknownMembers.text(number))}"
        return Self.frame(
            of: Self.tables[table].name,
            isNew ? "INSERT" : "UPDATE",
            at: Traffic.time(number),
            columns: columns,
            "\"record\":\(record)" + (isNew ? "" : ",\"old_record\":{\"id\":\(rows[table][row][0])}")
        )
    }

    /// - Parameter rest: the members behind the columns.
    static func frame(
        of table: String,
        _ type: String,
        at time: String,
        columns: [(name: String, type: String)],
        _ rest: String
    ) -> String {
        let columns = columns.map { "{\"name\":\"\($0.name)\",\"type\":\"\($0.type)\"}" }.joined(separator: ",")
        return
            "{\"topic\":\"realtime:public:\(table)\",\"event\":\"postgres_changes\",\"ref\":null,\"payload\":{\"ids\":[1],"
            + "\"data\":{\"schema\":\"public\",\"table\":\"\(table)\",\"type\":\"\(type)\",\"commit_timestamp\":\"\(time)\","
            + "\"errors\":null,\"columns\":[\(columns)],\(rest)}}}"
    }

    private mutating func newRow(of table: Int, _ number: Int) -> [String] {
        let place = rows[table].count
        return Self.tables[table].columns.map { column in
            switch column.name {
            case "id", "file_id": Self.id(place, of: column.name == "id" ? table : 2)
            case "title": quoted(random.words(2...5))
            case "content": quoted("# " + random.words(15...45))
            case "metadata": "{\"folder\":\"Kitchen\",\"pinned\":false}"
            case "url", "url_full", "source": quoted("https://soup.example/\(place)")
            case "domain": quoted("soup.example")
            case "filename_original", "path": quoted("/files/plan\(place).pdf")
            case "mime_original": quoted("application/pdf")
            case "size_bytes": "\(random.below(10_000_000))"
            case "status", "stage": quoted("queued")
            case "user_id": quoted("u-1")
            case "reading_time": quoted("3 min")
            case "is_archived", "pinned": "false"
            case "attempts": "0"
            case "created_at", "updated_at", "saved_at": quoted(Traffic.time(number))
            default: "null"
            }
        }
    }

    /// Changes a known row. The column that the record lacks; `nil` for none.
    private mutating func change(_ row: Int, of table: Int, _ number: Int) -> String? {
        let now = quoted(Traffic.time(number))
        func set(_ name: String, _ value: String) {
            guard let place = Self.tables[table].columns.firstIndex(where: { $0.name == name }) else { return }
            rows[table][row][place] = value
        }
        let kind = random.below(100)
        if Self.tables[table].name == "file_processing_jobs" {
            for (name, value) in [("status", "processing"), ("stage", "step \(kind % 4)"), ("worker_id", "worker-2")] {
                set(name, quoted(value))
            }
            set("lease_expires_at", now)
        } else if kind < 35 {
            set("title", quoted(random.words(2...5)))
            set("content", quoted("# " + random.words(15...45)))
        } else if kind < 60 {
            set("metadata", "{\"folder\":\"Kitchen\",\"pinned\":true,\"pinned_order\":\(kind % 10)}")
        } else if kind < 95 {
            set("last_opened_at", now)
            return nil
        } else {
            set("deleted_at", now)
        }
        set("updated_at", now)
        return kind >= 35 && kind < 47 ? "content" : nil
    }

    private static func id(_ place: Int, of table: Int) -> String {
        let digits = String(place, radix: 16)
        return "\"\(table)d000000-0000-4000-8000-\(String(repeating: "0", count: 12 - digits.count))\(digits)\""
    }

    private func quoted(_ text: String) -> String { "\"\(text)\"" }
}
