import EventLog

/// Rows of tables.
extension DecoderRun {
    /// The most bytes of the values of one change: a file may name one value many times.
    private static let rowBytesMax = 8 << 20
    /// The names that are no columns.
    private static let rowNames = Set((DecoderEffect.Subject.row.ids + DecoderEffect.Subject.row.members).map(\.text))

    mutating func row(_ reader: EffectReader, _ line: Int?) {
        guard let table = id(.table, reader, line), let id = id(.id, reader, line) else { return }
        decoder.rowCount += 1
        let effect = reader.effect
        let key = MessageKey(channel: table, id: id)
        stay(reader, table, id)
        let version = reader.time(.version)
        if case .fault = version { return issue("the row's version is no time", line) }
        if effect.operation == .make, decoder.rows[key] != nil { return }
        var record = RowRecord()
        if effect.operation != .delete {
            guard let columns = columns(reader, line) else { return }
            record = RowRecord(columns)
        }
        note(reader, table, id)
        let operation: RowChange.Operation =
            switch effect.operation {
            case .patch: .update
            case .delete: .delete
            default: .insert
            }
        let change = rowChange(key, operation, record, version: version.known)
        changes.append(.row(change))
        if operation == .delete, context.told != nil { tell(reader, of: change) }
    }

    /// Tells which columns a deletion states of the row, if they can be read.
    private mutating func tell(_ reader: EffectReader, of deletion: RowChange) {
        let reasons = context.reasons
        if let columns = columns(reader, nil) {
            var change = deletion
            (change.operation, change.record) = (.insert, RowRecord(columns))
            change.columns = change.record.shape
            context.told?.append(.row(change))
        }
        context.reasons = reasons
    }

    /// A change of a row. One without a version comes behind all that are known of the row.
    mutating func rowChange(
        _ key: MessageKey,
        _ operation: RowChange.Operation,
        _ record: RowRecord,
        version: Timestamp?
    ) -> RowChange {
        let sequence = context.event.sequence.rawValue
        var known = decoder.rows[key] ?? FileDecoder.RowMemory(sequence: sequence)
        if let version, known.version.map({ $0 < version }) ?? true {
            (known.version, known.sequence) = (version, sequence)
        }
        decoder.rows[key] = known
        // A change with a version is the same wherever it is stated again. Any other is one of its own, and so is each of
        // several in one event.
        let said: [JSONValue] = [
            .string(context.names.text(key.channel)), .string(context.names.text(key.id)), .string(operation.rawValue),
            version?.normalForm ?? .array([.int(sequence), .int(decoder.rowCount)]), .object(record.object),
        ]
        return RowChange(
            table: key.channel,
            id: key.id,
            identity: ChangeIdentity(JSONValue.array(said).canonicalBytes.withUnsafeBytes { decoder.key.hash($0) }),
            columns: record.shape,
            record: record,
            committedAt: version ?? known.version ?? context.event.recordedAt,
            operation: operation,
            isPlacedByArrival: version == nil && known.version == nil
        )
    }

    /// The columns that an effect states: the members of the object at `columns`, and those of the shape and of `with` in
    /// their place; `nil`, with an issue, if they cannot be read.
    private mutating func columns(_ reader: EffectReader, _ line: Int?) -> JSONObject? {
        let effect = reader.effect
        var members: [JSONObject.Member] = []
        var named: Set<ExactText> = []
        let stated = (effect.members.pairs + effect.outerMembers.pairs).map(\.name)
        for name in Set(stated).subtracting(Self.rowNames).sorted() {
            guard let value = reader.value(named: name) else { continue }
            named.insert(ExactText(name))
            members.append(JSONObject.Member(name: name, value: value))
        }
        if let place = effect.columns {
            guard let object = reader.inner.value(place)?.value.object else {
                issue("the row's columns are no object", line)
                return nil
            }
            members = object.members.filter { !named.contains(ExactText($0.name)) } + members
        }
        var byteCount = 0
        for member in members {
            byteCount += member.value.canonicalBytes.count
            guard byteCount <= Self.rowBytesMax else {
                issue("the row has more than \(Self.rowBytesMax) bytes", line)
                return nil
            }
        }
        Steps.count(byteCount)
        return JSONObject(distinct: members)
    }
}
