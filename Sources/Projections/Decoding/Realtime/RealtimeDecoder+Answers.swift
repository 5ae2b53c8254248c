import EventLog
import JSON

/// Answers of PostgREST: `realtime.rest/1`, attributes `table`, `path` and `status`.
extension RealtimeDecoder {
    /// Reads the rows of an answer.
    ///
    /// A row is an update that states every column, committed when the answer was recorded. An answer may come late: a
    /// row whose `updated_at` is older than the known row changes nothing. A row missing from the answer is not gone:
    /// it may be on another page.
    mutating func readAnswer(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let status = envelope.attributes["status"]
        // The body of an error is no list of rows. An answer without a status counts as good.
        guard status.map({ $0.utf8.count == 3 && $0.utf8.first == UInt8(ascii: "2") }) ?? true else { return }
        guard let table = envelope.attributes["table"] ?? Self.table(ofPath: envelope.attributes["path"]) else {
            return context.issue("rows: table is missing")
        }
        guard var rows = Self.rows(payload) else { return context.issue("rows: no array") }
        if context.rules.contains(.oldestHundredAreListed) { rows = oldestHundred(of: rows) }
        for (index, row) in rows.enumerated() {
            guard let record = record(row), let id = record.id(&context.names) else {
                context.issue("rows: row \(index + 1): id is missing")
                continue
            }
            let change = change(of: record, id: id, table: table, context: &context)
            apply(change, of: table, into: &changes, context: &context)
        }
    }

    /// The texts of the rows; `nil` for bytes that are no array.
    private static func rows(_ payload: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer]? {
        var rows: [UnsafeRawBufferPointer] = []
        var reader = JSONReader(payload)
        do throws(JSONError) {
            try reader.enterArray()
            while try reader.nextElement() {
                rows.append(UnsafeRawBufferPointer(rebasing: payload[try reader.range()]))
            }
            try reader.finish()
        } catch {
            return nil
        }
        return rows
    }

    /// The columns of a row; `nil` if it is no object.
    private mutating func record(_ row: UnsafeRawBufferPointer) -> RowRecord? {
        try? shapes.record(row)
    }

    /// The hundred rows with the earliest `created_at`, sorted by it; rows without a readable one are the earliest, and
    /// ties keep their order.
    private mutating func oldestHundred(of rows: [UnsafeRawBufferPointer]) -> [UnsafeRawBufferPointer] {
        let aged = rows.enumerated().map { index, row in
            let made = record(row)?.text(of: "created_at")?.string.flatMap(RemoteTime.postgres)
            return (made: made ?? Timestamp(seconds: .min), index: index)
        }
        return aged.sorted { ($0.made, $0.index) < ($1.made, $1.index) }.prefix(100).map { rows[$0.index] }
    }

    /// The row as an update at the time of the answer. `isReading` lets the register refuse a row older than the known
    /// one.
    private func change(
        of record: RowRecord,
        id: EntityID,
        table: String,
        context: inout FoldContext
    ) -> RowChange {
        // The sequence belongs to the identity: equal rows of two answers are two readings, not a repeat.
        let said = JSONValue.object([
            "answer": .string(context.event.sequence.description), "table": .string(table),
            "record": .object(record.object),
        ])
        return RowChange(
            table: context.names.id(table),
            id: id,
            identity: ChangeIdentity(said.canonicalBytes.withUnsafeBytes { key.hash($0) }),
            columns: record.shape,
            record: record,
            committedAt: context.event.recordedAt,
            operation: .update,
            isReading: true
        )
    }

    /// The last component of the path, for answers of recorders that set no `table`; PostgREST's routes end with the
    /// table.
    private static func table(ofPath path: String?) -> String? {
        path?.split(separator: "?", maxSplits: 1).first?.split(separator: "/").last.map(String.init)
    }
}
