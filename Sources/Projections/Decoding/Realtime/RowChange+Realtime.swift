import EventLog
import JSON

extension RowChange {
    /// Why a change is unreadable.
    struct Fault: Error {
        let reason: String
    }

    /// Reads the `data` of a change. The name of a table outside the schema `public` includes its schema; see
    /// `Names.tableID`.
    ///
    /// A deletion has its id in `old_record`, and its record counts as empty: what a deleted row contained does not
    /// matter.
    ///
    /// - Throws: `Fault` for a change that is unreadable.
    init(_ row: borrowing RealtimeRow, names: inout Names) throws(Fault) {
        guard let table = row.table else { throw Fault(reason: "table is no text") }
        guard let operation = row.type.flatMap({ Operation($0) }) else {
            throw Fault(reason: "type is none of INSERT, UPDATE, DELETE")
        }
        guard let committedAt = row.committedAt?.withUTF8({ RemoteTime.postgres($0) }) else {
            throw Fault(reason: "commit_timestamp is missing or no time")
        }
        guard let id = row.id(&names) else { throw Fault(reason: "id is missing in record and old_record") }
        if operation != .delete, row.record == nil { throw Fault(reason: "record is no object") }
        self.init(
            table: names.tableID(table, schema: row.isPublic ? nil : row.schema),
            id: id,
            // `commit_timestamp` is part of it, so equal changes of two commits are two changes.
            identity: row.identity,
            columns: row.columns,
            record: operation == .delete ? RowRecord() : row.record ?? RowRecord(),
            committedAt: committedAt,
            operation: operation,
            isPartial: row.isPartial
        )
    }
}

extension RowChange {
    /// Makes the change of a row whose primary key another one was before: under the new key a row begins as `record`
    /// has it, and the row under the old key is deleted by the same commit.
    ///
    /// - Parameter old: the id in `old_record`; `nil` if it has none.
    /// - Returns: the deletion of the row under the old key; `nil` if the key is the same.
    mutating func takeMove(from old: EntityID?) -> RowChange? {
        guard operation == .update, let old, old != id else { return nil }
        operation = .insert
        return RowChange(
            table: table,
            id: old,
            identity: identity,
            columns: .empty,
            record: RowRecord(),
            committedAt: committedAt,
            operation: .delete
        )
    }
}

extension RowChange.Operation {
    fileprivate init?(_ text: JSONText) {
        if text == "UPDATE" {
            self = .update
        } else if text == "INSERT" {
            self = .insert
        } else if text == "DELETE" {
            self = .delete
        } else {
            return nil
        }
    }
}

extension Names {
    /// The handle of a row's id: a text itself or the digits of a whole number of 64 bits, written without fraction and
    /// exponent; `nil` for anything else. The number 1 and the text `1` are one id. A text with half a surrogate pair is
    /// none: two such texts would be read as one.
    ///
    /// - Parameter value: a valid JSON value.
    mutating func rowID(_ value: ValueText) -> EntityID? {
        if let text = value.plainString { return id(text) }
        return rowID(value.bytes)
    }

    /// The handle of a row's id, by the bytes of a valid JSON value.
    mutating func rowID(_ value: UnsafeRawBufferPointer) -> EntityID? {
        var reader = JSONReader(value)
        switch try? reader.kind() {
        case .string: return (try? reader.string()).flatMap { wholeID($0) }
        case .number:
            guard let number = try? reader.number(), number.int64 != nil || number.uint64 != nil else { return nil }
            // Negative zero is zero.
            return number.uint64.map { id($0) } ?? id(JSONText(bytes: number.bytes, hasEscapes: false))
        default: return nil
        }
    }

    /// The handle of a table. Outside the schema `public`, its name includes the schema.
    ///
    /// No two tables have one name: a name that contains a dot or a quote is quoted, as in SQL.
    ///
    /// - Parameter schema: `nil` for the schema `public`.
    fileprivate mutating func tableID(_ table: JSONText, schema: JSONText?) -> EntityID {
        guard let schema else { return table.needsQuotes ? id(table.quoted) : id(table) }
        return id("\(schema.quoted).\(table.quoted)")
    }
}

extension JSONText {
    /// Whether the name would be ambiguous beside the name of a schema. Escapes are resolved first.
    fileprivate var needsQuotes: Bool {
        withUTF8 { $0.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "\"") } }
    }

    /// The name as part of a qualified name.
    fileprivate var quoted: String {
        guard needsQuotes else { return string }
        return "\"" + string.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
