/// The columns of a row whose values differ after a change, in the order of their names' UTF-8 bytes.
enum ChangedColumns {
    /// Any columns.
    case listed([RowEffect.ColumnChange])
    /// Columns of a record that has at most 64.
    case stated(StatedColumns)

    static let none = ChangedColumns.listed([])

    var isEmpty: Bool {
        switch self {
        case .listed(let columns): columns.isEmpty
        case .stated(let columns): columns.places == 0
        }
    }

    /// The columns with their new values.
    var columns: [RowEffect.ColumnChange] {
        switch self {
        case .listed(let columns): columns
        case .stated(let columns):
            columns.record.shape.places(in: columns.places).map {
                RowEffect.ColumnChange(name: columns.record.shape.names[$0], value: columns.record[$0])
            }
        }
    }

    /// Which columns with a meaning of their own are among them.
    var meanings: ColumnMeanings {
        switch self {
        case .listed(let columns): columns.reduce(into: []) { $0.insert(ColumnMeanings(of: $1.name)) }
        case .stated(let columns): columns.record.shape.meanings(of: columns.places)
        }
    }
}

/// Some columns of a record.
struct StatedColumns {
    let record: RowRecord
    /// A bit for each place in the record's shape, the lowest for the first.
    let places: UInt64
}

/// Some columns of a record with texts of their own: the record is not kept in memory.
struct KeptColumns: Sendable {
    private let shape: RowShape
    private let places: UInt64
    /// In the order of the names' UTF-8 bytes.
    private let values: ValueTexts

    init(_ columns: StatedColumns) {
        (shape, places) = (columns.record.shape, columns.places)
        let wanted = shape.places(in: places)
        values = columns.record.withValues { values in ValueTexts(wanted.lazy.map { values[$0] }) }
    }

    /// The columns, in the order of their names' UTF-8 bytes.
    var columns: [RowEffect.ColumnChange] {
        shape.places(in: places).enumerated().map { index, place in
            let value = values.stored(at: index, of: places.nonzeroBitCount)
            return RowEffect.ColumnChange(name: shape.names[place], value: value)
        }
    }
}

/// The columns whose changes have kinds of their own in a row's history, or none, and all others together.
struct ColumnMeanings: OptionSet, Sendable {
    let rawValue: UInt8

    static let title = ColumnMeanings(rawValue: 1)
    static let deletedAt = ColumnMeanings(rawValue: 2)
    static let updatedAt = ColumnMeanings(rawValue: 4)
    static let lastOpenedAt = ColumnMeanings(rawValue: 8)
    static let others = ColumnMeanings(rawValue: 16)

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(of name: String) {
        self =
            switch name {
            case "title": .title
            case "deleted_at": .deletedAt
            case "updated_at": .updatedAt
            case "last_opened_at": .lastOpenedAt
            default: .others
            }
    }
}
