/// Puts the records of a new generation up to a sequence into blocks, one behind the other. For one thread.
final class BlockSealer {
    /// Higher levels gain 1 in 20 on chats and take four times as long (`docs/decisions/0045-older-events-lie-in-blocks.md`).
    private static let level: Int32 = 3

    /// The count of blocks and events so far.
    private var sealing: Sealing
    private var builder = BlockBuilder()
    private let compressor: BlockCompressor

    /// - Parameter through: the last sequence to seal.
    init(through: UInt64) throws {
        sealing = Sealing(through: through)
        compressor = try BlockCompressor(level: Self.level)
    }

    /// Takes the next record, and stores the open block before it if that is full; false for a record that is not to be sealed:
    /// then the last block is stored, and the record goes behind it.
    func take(
        _ bytes: UnsafeRawBufferPointer,
        _ sequence: UInt64,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws -> Bool {
        guard sequence <= sealing.through, let record = Record(bytes) else {
            try store(transaction, tables)
            return false
        }
        if builder.isFull(for: record, at: sequence) { try store(transaction, tables) }
        builder.add(record, at: sequence)
        return true
    }

    /// Stores the last block. Returns what is sealed; `nil` if no event is.
    func finish(_ transaction: borrowing WriteTransaction, _ tables: LogTables) throws -> Sealing? {
        try store(transaction, tables)
        return sealing.blocks > 0 ? sealing : nil
    }

    private func store(_ transaction: borrowing WriteTransaction, _ tables: LogTables) throws {
        guard builder.count > 0 else { return }
        let value = try builder.value(compressedBy: compressor)
        try withKey(builder.last) { key in
            try value.withUnsafeBytes { try transaction.append($0, at: key, in: tables.events) }
        }
        sealing.blocks += 1
        sealing.events += UInt64(builder.count)
        builder = BlockBuilder()
    }
}
