public import EventLog

extension ChangeBuilder {
    /// States a row whole. The table's name is any text.
    ///
    /// - Parameter version: the time that orders the changes of the row: an older one changes nothing. Without one the change
    ///   comes behind all that are known.
    public mutating func replaceRow(
        _ id: String,
        of table: String,
        columns: JSONObject,
        version: Timestamp? = nil,
        in set: ThingSet? = nil
    ) {
        row(.replace, id, table, columns, version, set)
    }

    /// States some columns of a row; the others stay as they are. For `version` see `replaceRow`.
    public mutating func patchRow(
        _ id: String,
        of table: String,
        columns: JSONObject,
        version: Timestamp? = nil,
        in set: ThingSet? = nil
    ) {
        row(.patch, id, table, columns, version, set)
    }

    /// The row is gone until it is stated again. For `version` see `replaceRow`.
    public mutating func deleteRow(_ id: String, of table: String, version: Timestamp? = nil, in set: ThingSet? = nil) {
        row(.delete, id, table, nil, version, set)
    }

    private mutating func row(
        _ operation: DecoderEffect.Operation,
        _ id: String,
        _ table: String,
        _ columns: JSONObject?,
        _ version: Timestamp?,
        _ set: ThingSet?
    ) {
        var effect = EffectText(operation, .row)
        effect.ids = ["table": .text(table), "id": .text(id)]
        effect.state("version", version)
        (effect.columns, effect.set) = (columns, set)
        apply(effect)
    }
}
