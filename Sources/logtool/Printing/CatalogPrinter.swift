import EventLog
import JSON
import Projections

/// Prints logs and trees, a line each.
struct CatalogPrinter {
    let output: StandardOutput
    let entries: [Catalog.Entry]
    let now: Timestamp

    func print(_ form: ListForm) throws {
        switch form {
        case .document: try output.line(JSONValue.array(entries.map { .object(json($0)) }).lines)
        case .lines: for entry in entries { try output.line(JSONValue.object(json(entry)).text) }
        case .text: try printText()
        }
    }

    private func printText() throws {
        if entries.isEmpty { return }
        let rows = entries.map(columns)
        let names = ["name", "what", "events", "last", "sources"]
        let widths = names.indices.dropLast().map { column in
            (rows.map { DisplayText.width(of: $0[column]) } + [names[column].utf8.count]).max() ?? 0
        }
        func line(_ row: [String]) -> String {
            zip(row, widths + [0]).map { DisplayText.padded($0, to: $1) }.joined(separator: "  ")
                .trimmingTrailingSpaces()
        }
        try output.line(output.style.text(line(names), .quiet))
        for row in rows { try output.line(line(row)) }
    }

    private func columns(_ entry: Catalog.Entry) -> [String] {
        let name = DisplayText.cut(DisplayText.escaped(entry.name), to: 48)
        switch entry.contents {
        case .failure(let error): return [name, entry.what.rawValue, "", "", "not read: \(Failure.text(of: error))"]
        case .success(let contents):
            let last = entry.lagSeconds(now).map { TimeText.ago(seconds: $0) } ?? ""
            let sources = DisplayText.escaped(contents.sources.joined(separator: ", "))
            return [name, entry.what.rawValue, String(contents.head), last, sources]
        }
    }

    /// One of them as in `docs/cli-json.md`.
    private func json(_ entry: Catalog.Entry) -> JSONObject {
        var json: JSONObject = ["name": .string(entry.name), "what": .string(entry.what.rawValue)]
        switch entry.contents {
        case .failure(let error): json["error"] = .string(Failure.text(of: error))
        case .success(let contents):
            json["origin"] = .text(contents.origin)
            json["identity"] = .string(Base64.encode(contents.identity))
            json["sources"] = .array(contents.sources.map { .string($0) })
            json["head"] = .string(String(contents.head))
            json["root"] = .string(Base64.encode(contents.root.bytes))
            json["clock"] = .text(contents.clock?.description)
        }
        json["seen"] = .text(entry.seen?.description)
        json["lagSeconds"] = entry.lagSeconds(now).map { .int($0) }
        return json
    }
}
