import GRDBSQLite

/// Functions of SQLite's own of which one call may take hours, with a limit on their arguments.
///
/// SQLite asks nobody during a call of a function. So these are replaced by functions that look at the sizes of their arguments
/// first and then have SQLite's own called in a database of their own. All other functions take time in proportion to the
/// values they read and make, which are limited.
final class BoundedFunction {
    /// A function to replace.
    private struct Signature: Sendable {
        let name: String
        /// -1 for any number.
        let argumentCount: Int32
        /// The bytes or letters that a call with such arguments may have to compare or to write.
        let cost: @Sendable (UnsafeBufferPointer<OpaquePointer?>) -> Int
    }

    /// What one call may compare or write: a second or two.
    private static let costMax = 1 << 32
    /// The subtype by which SQLite's JSON functions know JSON (json1.c).
    private static let jsonSubtype: UInt32 = 74

    private static let all: [Signature] = [
        // Each compares one text with the other at each place.
        Signature(name: "instr", argumentCount: 2) { size($0[0]).saturatingProduct(size($0[1])) },
        Signature(name: "replace", argumentCount: 3) { size($0[0]).saturatingProduct(size($0[1])) },
        Signature(name: "trim", argumentCount: 2) { size($0[0]).saturatingProduct(size($0[1])) },
        Signature(name: "ltrim", argumentCount: 2) { size($0[0]).saturatingProduct(size($0[1])) },
        Signature(name: "rtrim", argumentCount: 2) { size($0[0]).saturatingProduct(size($0[1])) },
        // Looks for each member of the patch among those of the target; a member has five bytes at least.
        Signature(name: "json_patch", argumentCount: 2) { (size($0[0]) / 5).saturatingProduct(size($0[1]) / 5) },
        Signature(name: "printf", argumentCount: -1, cost: formatCost),
        Signature(name: "format", argumentCount: -1, cost: formatCost),
    ]

    private let signature: Signature
    /// A database in memory, which has SQLite's own function; `nil` until the first call.
    private var database: OpaquePointer?
    /// The compiled calls, by the number of arguments.
    private var calls: [Int32: OpaquePointer] = [:]

    private init(_ signature: Signature) {
        self.signature = signature
    }

    deinit {
        for call in calls.values { sqlite3_finalize(call) }
        sqlite3_close_v2(database)
    }

    /// Replaces the functions in a connection, which frees the replacements.
    static func register(on handle: OpaquePointer) {
        for signature in all {
            sqlite3_create_function_v2(
                handle,
                signature.name,
                signature.argumentCount,
                SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                Unmanaged.passRetained(BoundedFunction(signature)).toOpaque(),
                { context, count, arguments in
                    guard let context, let data = sqlite3_user_data(context) else { return }
                    let function = Unmanaged<BoundedFunction>.fromOpaque(data).takeUnretainedValue()
                    function.call(context, UnsafeBufferPointer(start: arguments, count: Int(count)))
                },
                nil,
                nil,
                { data in
                    if let data { Unmanaged<BoundedFunction>.fromOpaque(data).release() }
                }
            )
        }
    }

    private func call(_ context: OpaquePointer, _ arguments: UnsafeBufferPointer<OpaquePointer?>) {
        guard signature.cost(arguments) <= Self.costMax else {
            let reason = "\(signature.name) of such long texts takes too long"
            return sqlite3_result_error(context, reason, -1)
        }
        guard let call = prepared(Int32(arguments.count)) else {
            let reason = database.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            return sqlite3_result_error(context, reason, -1)
        }
        defer {
            sqlite3_reset(call)
            sqlite3_clear_bindings(call)
        }
        for (index, argument) in arguments.enumerated() { sqlite3_bind_value(call, Int32(index + 1), argument) }
        guard sqlite3_step(call) == SQLITE_ROW else {
            let code = sqlite3_errcode(database)
            sqlite3_result_error(context, sqlite3_errmsg(database), -1)
            return sqlite3_result_error_code(context, code)
        }
        sqlite3_result_value(context, sqlite3_column_value(call, 0))
        if signature.name.hasPrefix("json"), sqlite3_column_type(call, 0) == SQLITE_TEXT {
            sqlite3_result_subtype(context, Self.jsonSubtype)
        }
    }

    /// SQLite's own function as a statement with a parameter for each argument; `nil` if it cannot be compiled, as for a
    /// wrong number.
    private func prepared(_ count: Int32) -> OpaquePointer? {
        if let known = calls[count] { return known }
        if database == nil, sqlite3_open(":memory:", &database) != SQLITE_OK { return nil }
        sqlite3_limit(database, SQLITE_LIMIT_LENGTH, SQLiteGuard.valueBytesMax)
        let marks = repeatElement("?", count: Int(count)).joined(separator: ", ")
        var call: OpaquePointer?
        guard sqlite3_prepare_v2(database, "SELECT \(signature.name)(\(marks))", -1, &call, nil) == SQLITE_OK else {
            return nil
        }
        calls[count] = call
        return call
    }

    private static func size(_ value: OpaquePointer?) -> Int {
        // Of a number, that of its text, which is short.
        switch sqlite3_value_type(value) {
        case SQLITE_TEXT, SQLITE_BLOB: max(Int(sqlite3_value_bytes(value)), 1)
        default: 32
        }
    }

    /// The letters that a format may have written: each conversion as many as the greatest width or precision, which the
    /// format or, with `*`, any argument gives.
    @Sendable private static func formatCost(_ arguments: UnsafeBufferPointer<OpaquePointer?>) -> Int {
        guard let first = arguments.first, let text = sqlite3_value_text(first) else { return 0 }
        let format = UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(first)))
        var (count, width, number, takesWidths) = (0, 1, 0, false)
        for byte in format {
            if (0x30...0x39).contains(byte) {
                number = min(number * 10 + Int(byte - 0x30), Int(Int32.max))
                width = max(width, number)
                continue
            }
            number = 0
            if byte == UInt8(ascii: "%") { count += 1 }
            if byte == UInt8(ascii: "*") { takesWidths = true }
        }
        if takesWidths {
            for argument in arguments.dropFirst() {
                // SQLite reads any value as a number here, and takes 32 bits of it.
                width = max(width, Int(sqlite3_value_int(argument).magnitude))
            }
        }
        // Writing a letter takes longer than comparing one.
        return count.saturatingProduct(width).saturatingProduct(16)
    }
}

extension Int {
    /// The product, or the greatest number if that is less.
    fileprivate func saturatingProduct(_ other: Int) -> Int {
        let (product, isTooMuch) = multipliedReportingOverflow(by: other)
        return isTooMuch ? .max : product
    }
}
