package import EventLog

extension LogState {
    /// Writes the document in the form of `logtool replay --json`: one member per line, arrays with one canonical
    /// element per line. The JSON equals `document`. No list of rows is held in memory, but the places of a section's
    /// messages are.
    ///
    /// The calling thread calls `body` with the pieces in order, while other threads make the next ones. The bytes are
    /// valid only during the call. An error of `body` ends the writing and is passed on. Cost: O(n log n) in the number
    /// of rows; packed messages cost no allocation.
    public mutating func writeLines(
        _ options: DocumentOptions = DocumentOptions(),
        to body: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try writeDocument(options, to: body)
    }

    package func writeRows(in section: Section, asOf: Timestamp, to lines: inout DocumentLines) throws {
        if section == .issues {
            for row in rows(in: section, asOf: asOf) { try lines.row { $0.raw(row.canonicalText) } }
            return
        }
        for source in sources.sorted(by: { $0.name < $1.name }) {
            if section.isOfMessages {
                let places = GroupedPlaces(source.parts.messages, source.context.names).places(in: section)
                try source.writeRows(of: section, messagesAt: places, to: &lines)
            } else if let fold = source.fold(for: section) {
                try source.writeRows(of: fold.keys(in: section, names: source.context.names), asOf: asOf, to: &lines)
            }
        }
    }
}

extension SourceState {
    /// Writes the rows with these keys.
    func writeRows(of keys: [EntityKey], asOf: Timestamp, to lines: inout DocumentLines) throws {
        let context = rowContext(asOf: asOf)
        if keys.first?.section == .rows {
            return try parts.rows.forEachRow(of: keys, source: sourceMember, context: context) { text in
                try lines.row { $0.raw(text) }
            }
        }
        for key in keys {
            guard let row = fold(for: key.section)?.row(for: key, context: context) else { continue }
            try lines.row { $0.raw(withSource(row).canonicalText) }
        }
    }

    /// Writes the rows of the messages at these places. Each message must have a row in the section: a place without
    /// one would leave an empty element.
    func writeRows(
        of section: Section,
        messagesAt places: [Int],
        to lines: inout DocumentLines
    ) throws {
        let source = sourceMember
        let (messages, names, rules) = (parts.messages, context.names, rowRules)
        // Called by several threads at once, each with a writer of its own; nobody changes the state meanwhile.
        try lines.rows(places.count) { index, writer in
            messages.prefetch(places[...], after: index)
            _ = messages.writeRow(of: section, at: places[index], source: source, to: &writer, names, rules)
        }
    }

    /// The member `source` of a row with a comma before it, in canonical form.
    private var sourceMember: [UInt8] { Array((",\"source\":" + JSONValue.string(name.rawValue).canonicalText).utf8) }
}
