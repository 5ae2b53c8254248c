#if Recorders
/// A table whose rows are recorded. Its texts go into URLs and JSON as they are, so they are checked when it is made.
struct RealtimeTable: Hashable, Sendable {
    let schema: String
    let name: String
    /// The condition for the rows, such as `user_id=eq.u-1`; `nil` for all rows that the user may see.
    let filter: String?

    /// The topic of the table's channel; the server accepts any name.
    var topic: String { "realtime:\(schema):\(name)" }

    /// Reads `notes`, `public.notes` or `notes:user_id=eq.u-1`.
    ///
    /// - Throws: `IngestError` with code `invalidArgument`.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        schema = names.count == 2 ? String(names[0]) : "public"
        name = String(names[names.count - 1])
        filter = parts.count == 2 ? String(parts[1]) : nil
        guard Self.isName(schema), Self.isName(name), filter.map(Self.isFilter) ?? true else {
            throw IngestError(
                .invalidArgument,
                operation: "record realtime",
                object: text,
                reason: "it is no table",
                advice: "give one such as notes, public.notes or notes:user_id=eq.7"
            )
        }
    }

    /// True for letters, digits, `_` and `-`.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { SecretText.isNameByte($0) }
    }

    /// True for a column, `=`, an operator, a dot and a value, in characters that can go into a URL as they are.
    private static func isFilter(_ text: String) -> Bool {
        guard let equals = text.firstIndex(of: "="), isName(String(text[..<equals])) else { return false }
        let rest = text[text.index(after: equals)...]
        let isClean = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"&#?%\"\\<>".utf8.contains($0) }
        return rest.contains(".") && isClean
    }
}
#endif
