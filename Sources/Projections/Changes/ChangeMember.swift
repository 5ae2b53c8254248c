/// The members that the `data` of a realtime change has.
enum ChangeMember {
    case schema, table, type, committedAt, errors, columns, record, oldRecord, other

    init(of name: String) {
        self =
            switch name {
            case "schema": .schema
            case "table": .table
            case "type": .type
            case "commit_timestamp": .committedAt
            case "errors": .errors
            case "columns": .columns
            case "record": .record
            case "old_record": .oldRecord
            default: .other
            }
    }
}
