extension RowColumns {
    /// The knowledge of one column, by positions: which change gave its value, which named it last, which lacked its
    /// value.
    struct Column: Codable {
        struct Content: Codable {
            var value: StoredJSON
            var position: Position
        }

        let name: String
        /// The last value; `nil` if no change had one.
        var content: Content?
        /// The last change that named the column.
        var named: Position?
        /// The last partial change that lacked the column's value.
        var lacked: Position?

        /// True if the column exists but no change since the floor had its value.
        var isUnknown: Bool { content == nil && named != nil }

        /// True if a later change may have set the column and was too large to contain it.
        var isStale: Bool {
            guard let content, let lacked else { return false }
            return content.position < lacked
        }
    }
}

extension RowColumns.Column {
    /// The column with its value in the newest record, if that has one.
    func stated(by record: RowRecord?, at position: RowRegister.Position?) -> Self {
        guard let record, let position, let value = record.text(of: name) else { return self }
        var column = self
        column.content = Content(value: value, position: position)
        return column
    }

    /// The bytes of the name and of the value, about.
    var byteCount: Int { 16 + name.utf8.count + (content?.value.byteCount ?? 0) }

    /// Whether nothing is known of the column.
    var isEmpty: Bool { content == nil && named == nil && lacked == nil }

    /// Forgets what changes up to a position stated.
    mutating func forget(upTo position: RowRegister.Position) {
        if let content, content.position <= position { self.content = nil }
        if let named, named <= position { self.named = nil }
        if let lacked, lacked <= position { self.lacked = nil }
    }
}
