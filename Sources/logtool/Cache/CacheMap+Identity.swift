import Projections

extension CacheMap {
    /// The map reduced to the tables with these names.
    func only(_ names: Set<String>) -> CacheMap {
        CacheMap(name: name, tables: tables.filter { names.contains($0.name) }, metaTable: metaTable)
    }
}

extension CacheMap.Table {
    /// Everything in the map that decides this table's rows. Line numbers are left out, so moving lines in the file
    /// changes nothing.
    var identity: [String] {
        [name, list.name, "\(conflict)"] + each.map { "each \($0.name)" } + key.map { "key \($0)" }
            + conditions.map { "where \($0.path.name) \($0.value.map { "= \($0)" } ?? "exists")" }
            + columns.flatMap(\.identity)
    }

    /// The column that stores each row's source unchanged; `nil` where the table has none. `RebuildPlan` needs it to
    /// replace the rows of one source.
    var sourceColumn: String? {
        columns.first { column in
            guard case .member(let path) = column.origin else { return false }
            return path.name == "source" && [.plain, .text].contains(column.storage)
        }?.name
    }
}

extension CacheColumn {
    /// Everything in the map that decides this column's values, its fallback included.
    fileprivate var identity: [String] {
        let origin: [String] =
            switch self.origin {
            case .member(let path): ["member \(path.name)"]
            case .constant(let value): ["constant \(value)"]
            case .template(let pieces):
                pieces.map { piece in
                    switch piece {
                    case .text(let text): "text \(text)"
                    case .member(let path): "member \(path.name)"
                    }
                }
            }
        return ["column \(name)", storage.rawValue, "\(fallback)"] + origin
    }
}
