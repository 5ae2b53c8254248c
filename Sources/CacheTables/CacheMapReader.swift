import Projections

/// Reads a map (`docs/cache.md`). Unknown members are refused with their line, so that a misspelt one does not pass as
/// absent.
///
/// A map may come from elsewhere: the YAML reader bounds its size and nesting (I23), and every name ends up quoted in
/// SQL.
struct CacheMapReader {
    /// The map's name, for messages.
    let name: String
    /// Replacements for `{values.NAME}` in templates; they override the map's own `values`.
    var values: [String: String] = [:]

    /// The most tables of a map. Each has a compiled statement and is visited for every row of its list.
    static let tablesMax = 200

    /// The members that a table may have, and below those of a column.
    private static let tableMembers = ["from", "where", "needs", "key", "conflict", "columns"]
    private static let columnMembers = ["from", "text", "value", "as", "default"]

    /// Reads the text of a map. Knows the lists of the state, but no database: `MappedTables` checks tables and
    /// columns.
    ///
    /// - Throws: `EngineError` that names the map, the line and the member.
    func read(_ text: String) throws -> CacheMap {
        let root: YAMLNode
        do throws(YAMLDocument.Fault) {
            root = try YAMLDocument.node(of: text)
        } catch {
            throw failure("it \(error.reason)", error.line)
        }
        let members = try known(root, ["meta", "values", "tables"], in: "the map")
        // Values given on the command line override the map's.
        var reader = self
        for value in try members["values"].map({ try pairs($0, "values") }) ?? [] where values[value.name] == nil {
            reader.values[value.name] = try scalar(value.value, value.name)
        }
        guard let tables = members["tables"] else { throw failure("it has no tables", root.line) }
        let found = try pairs(tables, "tables").map { try reader.table($0) }
        guard !found.isEmpty, found.count <= Self.tablesMax else {
            throw failure("tables has \(found.count) tables; give 1 to \(Self.tablesMax)", tables.line)
        }
        // The name is compared without case, as SQLite compares names.
        let meta = try members["meta"].map { try scalar($0, "meta") } ?? "eventlog_meta"
        if let table = found.first(where: { $0.name.lowercased() == meta.lowercased() }) {
            throw failure("\(meta) is the table of the sequence; name another one with meta", table.line)
        }
        return CacheMap(name: name, tables: found, metaTable: meta)
    }

    /// Reads one table.
    ///
    /// Whether the table exists is for `MappedTables` to check.
    private func table(_ entry: YAMLNode.Member) throws -> CacheMap.Table {
        let place = "table \"\(entry.name)\""
        let members = try known(entry.value, Self.tableMembers, in: place)
        guard let from = members["from"] else { throw failure("\(place) has no from", entry.line) }
        let path = try scalar(from, "from").split(separator: ".").map(String.init)
        guard let list = path.first.flatMap({ MappedList(name: $0) }) else {
            let names = MappedList.all.map(\.name).joined(separator: ", ")
            throw failure("\(place): the state has no list \"\(path.first ?? "")\"; there are \(names)", from.line)
        }
        // `messages.reactions.users` has two lists: `reactions`, then `reactions.users`, whose path goes through the
        // element that took the first one's place.
        var scope = Scope(list: list)
        for end in path.indices.dropFirst() {
            let one = try checkedPath(path[1...end].joined(separator: "."), scope, place, from.line)
            guard scope.mayBeList(one.name) else {
                throw failure("\(place): \(one.name) of \(list.name) is no list; leave it out of from", from.line)
            }
            scope.each.append(one)
        }
        let each = scope.each
        guard let columns = members["columns"] else { throw failure("\(place) has no columns", entry.line) }
        let found = try pairs(columns, "columns of \(place)").map { try column($0, scope, place) }
        guard !found.isEmpty else { throw failure("\(place) has no columns", columns.line) }
        let key = try members["key"].map { try texts($0, "key") } ?? []
        if let lacking = key.first(where: { name in !found.contains { $0.name == name } }) {
            throw failure("\(place): the key has \"\(lacking)\", which is no column of the map", members["key"]?.line)
        }
        return CacheMap.Table(
            name: entry.name,
            list: list,
            each: each,
            columns: found,
            key: key,
            conditions: try conditions(members, scope, place),
            conflict: try conflict(members["conflict"], place),
            line: entry.line
        )
    }

    /// The conditions of `where` (a value) and `needs` (no value).
    private func conditions(
        _ members: [String: YAMLNode],
        _ scope: Scope,
        _ place: String
    ) throws -> [CacheMap.Condition] {
        var found: [CacheMap.Condition] = []
        for condition in try members["where"].map({ try pairs($0, "where") }) ?? [] {
            let path = try checkedPath(condition.name, scope, place, condition.line)
            let value = try scalar(condition.value, condition.name)
            found.append(CacheMap.Condition(path: path, value: value, line: condition.line))
        }
        if let needs = members["needs"] {
            for name in try texts(needs, "needs") {
                let path = try checkedPath(name, scope, place, needs.line)
                found.append(CacheMap.Condition(path: path, value: nil, line: needs.line))
            }
        }
        return found
    }

    /// The rule for rows with equal keys; `fail` if the map has none.
    private func conflict(_ node: YAMLNode?, _ place: String) throws -> CacheMap.Conflict {
        guard let node else { return .fail }
        let text = try scalar(node, "conflict")
        guard let conflict = CacheMap.Conflict(rawValue: text) else {
            let known = CacheMap.Conflict.allCases.map(\.rawValue).joined(separator: ", ")
            throw failure("\(place): conflict \"\(text)\" means nothing; there is \(known)", node.line)
        }
        return conflict
    }
}

// MARK: - Columns

extension CacheMapReader {
    /// The members that a path in one table may name.
    private struct Scope {
        let list: MappedList
        /// The lists within a row whose elements give the table's rows, outermost first.
        var each: [MemberPath] = []

        /// Whether rows are elements of a list, so that `place` exists.
        var hasPlace: Bool { !each.isEmpty }

        /// Why rows have no such member; `nil` if they may have it. What the remote decides is not checked.
        func fault(in path: String) -> String? {
            switch walk(path) {
            case .success: nil
            case .failure(let fault): fault.reason
            }
        }

        /// Whether a member may be a list.
        func mayBeList(_ path: String) -> Bool {
            switch try? walk(path).get() {
            case .list, .open: true
            case .scalar, .object, nil: false
            }
        }

        /// Follows a path from shape to shape. An element takes the place of its list.
        private func walk(_ path: String) -> Result<MemberShape, PathFault> {
            var shape = MemberShape.object(
                list.members.map { ($0, list.shape(of: $0) ?? .open) } + (hasPlace ? [("place", .scalar)] : [])
            )
            var (name, done) = (list.name, "")
            for part in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
                switch shape {
                case .open: return .success(.open)
                case .scalar: return .failure(PathFault(reason: "\(name) is no object and has no member \"\(part)\""))
                case .list:
                    let reason = "\(name) is a list; a row for each of its elements comes from \(list.name).\(done)"
                    return .failure(PathFault(reason: reason))
                case .object(let members):
                    guard let member = members.first(where: { $0.name == part }) else {
                        let names = members.map(\.name).joined(separator: ", ")
                        return .failure(PathFault(reason: "\(name) has no member \"\(part)\"; it has \(names)"))
                    }
                    shape = member.shape
                }
                (name, done) = (part, done.isEmpty ? part : done + "." + part)
                if case .list(let element) = shape, each.contains(where: { $0.name == done }) { shape = element }
            }
            return .success(shape)
        }
    }

    /// Why a path names nothing.
    private struct PathFault: Error {
        let reason: String
    }

    /// Reads one column: a text alone, or a mapping with exactly one origin.
    private func column(_ entry: YAMLNode.Member, _ scope: Scope, _ place: String) throws -> CacheColumn {
        let place = "\(place): column \"\(entry.name)\""
        if entry.value.text != nil {
            let origin = try origin(of: try scalar(entry.value, entry.name), scope, place, entry.line)
            return CacheColumn(name: entry.name, origin: origin, line: entry.line)
        }
        let members = try known(entry.value, Self.columnMembers, in: place)
        let origins = ["from", "text", "value"].filter { members[$0] != nil }
        // `from`, `text` and `value` exclude each other.
        guard origins.count == 1, let kind = origins.first, let node = members[kind] else {
            throw failure("\(place) needs one of from, text and value", entry.line)
        }
        let origin: CacheColumn.Origin =
            switch kind {
            case "from": .member(try checkedPath(try scalar(node, kind), scope, place, node.line))
            case "text": .template(try template(try scalar(node, kind), scope, place, node.line))
            default: .constant(try constant(node, kind))
            }
        return CacheColumn(
            name: entry.name,
            origin: origin,
            storage: try members["as"].map { try storage($0, place) } ?? .plain,
            fallback: try members["default"].map { try constant($0, "default") } ?? .null,
            line: entry.line
        )
    }

    /// Reads a text with braces as a template and any other text as a member.
    private func origin(of text: String, _ scope: Scope, _ place: String, _ line: Int) throws -> CacheColumn.Origin {
        text.contains("{")
            ? .template(try template(text, scope, place, line)) : .member(try checkedPath(text, scope, place, line))
    }

    /// Splits a template at its braces. Values are put in now, members for each row.
    private func template(_ text: String, _ scope: Scope, _ place: String, _ line: Int) throws -> [CacheColumn.Piece] {
        var pieces: [CacheColumn.Piece] = []
        // Each part but the first begins with a name and its closing brace.
        for (index, part) in text.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
            if index == 0 {
                pieces.append(.text(String(part)))
                continue
            }
            guard let end = part.firstIndex(of: "}") else {
                throw failure("\(place): a brace in \"\(text)\" is not closed", line)
            }
            let name = String(part[..<end])
            if name.hasPrefix("values.") {
                guard let value = values[String(name.dropFirst(7))] else {
                    throw failure("\(place): there is no value \"\(name.dropFirst(7))\"; give it with --value", line)
                }
                pieces.append(.text(value))
            } else {
                pieces.append(.member(try checkedPath(name, scope, place, line)))
            }
            pieces.append(.text(String(part[part.index(after: end)...])))
        }
        return pieces
    }

    /// The value of `as`.
    private func storage(_ node: YAMLNode, _ place: String) throws -> CacheColumn.Storage {
        let text = try scalar(node, "as")
        guard let storage = CacheColumn.Storage(rawValue: text) else {
            let known = CacheColumn.Storage.allCases.map(\.rawValue).joined(separator: ", ")
            throw failure("\(place): as \"\(text)\" means nothing; there is \(known)", node.line)
        }
        return storage
    }

    /// Reads an unquoted whole number as a number and any other scalar as a text.
    private func constant(_ node: YAMLNode, _ name: String) throws -> SQLiteValue {
        switch node.value {
        case .absent: .null
        case .text(let text, let isPlain): (isPlain ? Int64(text) : nil).map { .integer($0) } ?? .text(text)
        case .list, .map: throw failure("\(name) is no text", node.line)
        }
    }

    /// A path to a member that rows can have.
    private func checkedPath(_ text: String, _ scope: Scope, _ place: String, _ line: Int) throws -> MemberPath {
        if let fault = scope.fault(in: text) { throw failure("\(place): \(fault)", line) }
        if let path = MemberPath(text, in: scope.list, hasPlace: scope.hasPlace) { return path }
        throw failure("\(place): \"\(text)\" is no member; write names with dots between them", line)
    }
}

// MARK: - Shapes

extension CacheMapReader {
    /// An error that names the map, the line and the page that describes maps.
    private func failure(_ reason: String, _ line: Int?) -> EngineError {
        EngineError("read map \"\(name)\": \(line.map { "line \($0): " } ?? "")\(reason); see docs/cache.md")
    }

    /// The members of a mapping, in order.
    private func pairs(_ node: YAMLNode, _ name: String) throws -> [YAMLNode.Member] {
        guard let members = node.members else { throw failure("\(name) is no mapping", node.line) }
        return members
    }

    /// The members of a mapping by name; others than `names` are refused.
    private func known(_ node: YAMLNode, _ names: [String], in place: String) throws -> [String: YAMLNode] {
        var found: [String: YAMLNode] = [:]
        for member in try pairs(node, place) {
            guard names.contains(member.name) else {
                let known = names.joined(separator: ", ")
                throw failure(
                    "\(place) has \"\(member.name)\", which means nothing here; it can have \(known)",
                    member.line
                )
            }
            found[member.name] = member.value
        }
        return found
    }

    /// A scalar as text. A zero byte would end the text where SQLite reads it as a name.
    private func scalar(_ node: YAMLNode, _ name: String) throws -> String {
        guard let text = node.text else { throw failure("\(name) is no text", node.line) }
        guard !text.utf8.contains(0) else { throw failure("\(name) has a zero byte", node.line) }
        return text
    }

    /// A list of scalars, or one scalar alone.
    private func texts(_ node: YAMLNode, _ name: String) throws -> [String] {
        if node.text != nil { return [try scalar(node, name)] }
        guard let elements = node.elements else { throw failure("\(name) is no list", node.line) }
        return try elements.map { try scalar($0, name) }
    }
}
