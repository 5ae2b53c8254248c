import Synchronization

extension Generation {
    /// Checks the generation's derived data: pages, owner, and the checksum of every value. Removes it if anything is
    /// wrong (I17).
    ///
    /// - Returns: What was wrong; `nil` if nothing was, if there is no derived data, or if this process may not write
    ///   to it.
    func checkDerivedData() -> String? {
        let name = LogDirectory.cacheName(number)
        do {
            guard isWritable, let cache = try directory.folder.folder(name) else { return nil }
            try DerivedStore.checkPages(of: DataFile(in: cache))
            guard let store = try existingDerivedStore() else {
                return try directory.folder.folder(name) != nil ? nil : "it does not belong to this log"
            }
            try store.checkValues()
            return nil
        } catch {
            discardDerivedData(name)
            return Self.words(for: error)
        }
    }

    /// Removes the data through the open store if there is one, so that this process does not use it any further.
    private func discardDerivedData(_ name: String) {
        let isOpen = derived.withLock { derived in
            derived?.discard()
            return derived != nil
        }
        if !isOpen { try? directory.removeCache(name) }
    }

    private static func words(for error: any Error) -> String {
        switch error {
        case let damage as PageCheck.Damage: VerifyReport.Damage(damage).description
        case let error as EventLogError: error.reason
        case let error as LMDBError: "\(error.reason), to \(error.operation)"
        default: "\(error)"
        }
    }
}

extension DerivedStore {
    /// - Throws: `EventLogError` with code `damaged` if a value does not fit its checksum.
    fileprivate func checkValues() throws {
        try read { view in
            let (tables, values) = (environment.tables[0], environment.tables[1])
            try forEachEntry(of: tables, view) { Checksum.opened($1, table: tables.name, key: $0) != nil }
            try forEachEntry(of: values, view) { DerivedTable.withoutSum($1, $0) != nil }
        }
    }

    private func forEachEntry(
        of table: Table,
        _ view: TransactionView,
        _ isSound: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
    ) throws {
        var cursor = try Cursor(view, table)
        while try cursor.advance() {
            guard isSound(cursor.key, cursor.value) else {
                throw EventLogError(
                    .damaged,
                    operation: "check derived table",
                    object: table.name,
                    reason: "a value of the table \(table.name) is altered"
                )
            }
        }
    }
}
