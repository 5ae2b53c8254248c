package import EventLog

/// What has a state document: the state of a log, or of one channel of it. It lends its rows; whatever prints, writes or
/// lists a state takes this.
package protocol DocumentState: Sendable {
    /// The sections that the document can have, in its order.
    static var sections: [Section] { get }

    /// The greatest `recordedAt` of the remote changes in the state.
    var clock: Timestamp? { get }

    /// The members of the document that are no rows.
    mutating func documentHeader(_ options: DocumentOptions) -> JSONObject

    /// Calls `body` with the rows of one section one after another, sorted as the document sorts them. Except for
    /// issues, no list of rows is held in memory.
    func forEachRow(in section: Section, asOf: Timestamp, _ body: (JSONValue) throws -> Void) rethrows

    /// Writes the rows of one section. Packed messages cost no allocation; the places of the section's messages are held
    /// in memory, rows are not.
    func writeRows(in section: Section, asOf: Timestamp, to lines: inout DocumentLines) throws

    /// The channels of the document with their messages, which are lent: those with rows in its order, then the others
    /// with live messages, then the others with deleted ones. Within each group by source, then in the section's order.
    func channels(_ options: DocumentOptions) -> [StateChannel]

    /// The document as a value, with all rows in memory.
    mutating func document(_ options: DocumentOptions) -> JSONValue

    /// Writes the document in the form of `logtool replay --json`: one member per line, arrays with one canonical
    /// element per line. The bytes that `body` gets are valid only during the call.
    mutating func writeLines(
        _ options: DocumentOptions,
        to body: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws
}

extension DocumentState {
    /// The instant for a document: `asOf` of the options, else the clock, else the start of 1970 (UTC).
    package func asOf(_ options: DocumentOptions) -> Timestamp { options.asOf ?? clock ?? Timestamp(seconds: 0) }

    /// The sections that the document has with these options, in its order.
    package static func sections(_ options: DocumentOptions) -> [Section] { sections.filter(options.includes) }

    /// What `document` gives.
    mutating func documentValue(_ options: DocumentOptions) -> JSONValue {
        let asOf = asOf(options)
        var document = documentHeader(options)
        for section in Self.sections(options) {
            var rows: [JSONValue] = []
            forEachRow(in: section, asOf: asOf) { rows.append($0) }
            document[section.rawValue] = .array(rows)
        }
        return .object(document)
    }

    /// What `writeLines` writes.
    mutating func writeDocument(
        _ options: DocumentOptions,
        to body: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let asOf = asOf(options)
        var lines = DocumentLines(body)
        for member in documentHeader(options).members { try lines.member(member.name, member.value.canonicalText) }
        for section in Self.sections(options) {
            try lines.beginRows(section.rawValue)
            try writeRows(in: section, asOf: asOf, to: &lines)
            try lines.endRows()
        }
        try lines.end()
    }
}

extension DocumentOptions {
    /// Whether the document has a section.
    package func includes(_ section: Section) -> Bool { sections?.contains(section) ?? true }
}
