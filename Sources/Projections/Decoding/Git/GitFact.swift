import EventLog

/// Writes commits, files and graves into facts and normal forms, as arrays, because they are many.
///
/// commit = `[id, sequence, basis or null, [file difference…], [grave difference…], [[folder, files more]…]]`;
/// difference = `[channel, id, before, after]`, each sorted by channel and id; file = `[blob, since]`, with a third
/// element (the last blob that was a message, or null) where the file is no message; grave = `[since, blob, deletedAt
/// or null, deletedBy or null, moved]`.
///
/// Compacted logs contain this form, so it must stay readable (I31).
enum GitFact {
    static func commit(_ index: Int, of history: GitHistory, _ names: Names) -> JSONValue {
        let node = history.node(at: index)
        let blobs = history.blobs
        let folders = node.folders.sorted { names.precedes($0.key, $1.key) }
        return .array([
            .string(node.commit),
            .int(node.sequence),
            node.basis.map { .string(history.commit(at: $0)) } ?? .null,
            differences(node.files, names) { file($0, blobs) },
            differences(node.graves, names) { grave($0, blobs) },
            .array(folders.map { .array([.string(names.text($0.key)), .int($0.value)]) }),
        ])
    }

    /// A key's two texts, then its values. Handles mean nothing outside their state.
    static func entry(_ key: MessageKey, _ values: [JSONValue], _ names: Names) -> JSONValue {
        .array([.string(names.text(key.channel)), .string(names.text(key.id))] + values)
    }

    /// Null for no grave, which is one side of a difference.
    static func grave(_ grave: GitHistory.Grave?, _ blobs: GitIDs) -> JSONValue {
        guard let grave else { return .null }
        return .array([
            grave.since.normalForm,
            .string(blobs.text(grave.usable)),
            grave.deletedAt?.normalForm ?? .null,
            grave.deletedBy.map { .string($0) } ?? .null,
            .bool(grave.isMoved),
        ])
    }

    /// Two elements for a message, whose last message is the blob itself.
    private static func file(_ file: GitHistory.File?, _ blobs: GitIDs) -> JSONValue {
        guard let file else { return .null }
        let values: [JSONValue] = [.string(blobs.text(file.blob)), .int(file.since)]
        return .array(file.isMessage ? values : values + [file.usable.map { .string(blobs.text($0)) } ?? .null])
    }

    /// A table of differences, sorted by key, since a dictionary has no order (I10).
    private static func differences<Value>(
        _ table: [MessageKey: GitHistory.Difference<Value>],
        _ names: Names,
        _ encode: (Value?) -> JSONValue
    ) -> JSONValue {
        .array(
            table.sorted { $0.key.precedes($1.key, names) }
                .map { entry($0.key, [encode($0.value.before), encode($0.value.after)], names) }
        )
    }
}

extension GitFact {
    /// Reads what `commit` wrote; `nil` for anything else.
    static func awaited(_ fact: JSONValue, _ names: inout Names, _ blobs: inout GitIDs) -> GitHistory.Awaited? {
        guard let parts = fact.array, parts.count == 6, let commit = parts[0].string,
            let sequence = parts[1].number?.uint64, let files = differences(parts[3], &names, &blobs, file),
            let graves = differences(parts[4], &names, &blobs, grave)
        else { return nil }
        var node = GitHistory.Node(commit: commit, sequence: sequence)
        node.files = files
        node.graves = graves
        for folder in parts[5].array ?? [] {
            guard let pair = folder.array, pair.count == 2, let name = pair[0].string, let count = pair[1].number?.int64
            else { return nil }
            node.folders[names.id(name)] = Int(count)
        }
        return GitHistory.Awaited(node: node, basis: parts[2].string)
    }

    /// Reads a table; `nil` if an entry has another form. A side that `decode` refuses counts as absent.
    private static func differences<Value>(
        _ value: JSONValue,
        _ names: inout Names,
        _ blobs: inout GitIDs,
        _ decode: (JSONValue, inout GitIDs) -> Value?
    ) -> [MessageKey: GitHistory.Difference<Value>]? {
        var table: [MessageKey: GitHistory.Difference<Value>] = [:]
        for entry in value.array ?? [] {
            guard let parts = entry.array, parts.count == 4, let channel = parts[0].string, let id = parts[1].string
            else {
                return nil
            }
            let key = MessageKey(channel: names.id(channel), id: names.id(id))
            table[key] = GitHistory.Difference(before: decode(parts[2], &blobs), after: decode(parts[3], &blobs))
        }
        return table
    }

    private static func file(_ value: JSONValue, _ blobs: inout GitIDs) -> GitHistory.File? {
        // Two elements are a message, three are a file that is none (see `file` above).
        guard let parts = value.array, parts.count >= 2, let blob = parts[0].string, let since = parts[1].number?.uint64
        else { return nil }
        let place = blobs.add(blob)
        let usable = parts.count == 2 ? place : parts[2].string.map { blobs.add($0) }
        return GitHistory.File(blob: place, usable: usable, since: since)
    }

    private static func grave(_ value: JSONValue, _ blobs: inout GitIDs) -> GitHistory.Grave? {
        guard let parts = value.array, parts.count == 5, let since = EventReference(normalForm: parts[0]),
            let usable = parts[1].string, let isMoved = parts[4].bool
        else { return nil }
        return GitHistory.Grave(
            since: since,
            deletedAt: Timestamp(normalForm: parts[2]),
            deletedBy: parts[3].string,
            usable: blobs.add(usable),
            isMoved: isMoved
        )
    }
}
