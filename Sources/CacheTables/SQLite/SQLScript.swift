import Projections

/// A file of SQL statements: an app's schema, unchanged.
struct SQLScript: Sendable {
    /// One statement with its semicolon, and the line on which it begins, from 1.
    struct Statement: Equatable, Sendable {
        let text: String
        let line: Int
    }

    /// The file's name, for messages.
    let name: String
    let text: String

    /// The longest script, in bytes: 4 MiB.
    static let bytesMax = 4 << 20

    /// The statements, in order, without blanks and comments between them. Linear time.
    ///
    /// - Throws: `EngineError` if the script is too long or contains a zero byte, at which SQLite would stop reading.
    func statements() throws -> [Statement] {
        guard text.utf8.count <= Self.bytesMax else {
            throw EngineError("read schema \"\(name)\": it has more than \(Self.bytesMax) bytes")
        }
        guard !text.utf8.contains(0) else { throw EngineError("read schema \"\(name)\": it has a zero byte") }
        var scanner = SQLScanner(text)
        var found: [Statement] = []
        while let statement = scanner.next() { found.append(statement) }
        return found
    }

    /// An error of a statement that names the script and the line.
    func failure(_ trouble: SQLiteTrouble, line: Int) -> EngineError {
        let refusal = "the statement \(trouble.reason), which a cache's schema may not; leave it out or let it do less"
        let reason = trouble.isRefusal ? refusal : trouble.description
        return EngineError("run schema \"\(name)\": line \(line): \(reason)")
    }
}

/// Splits SQL into statements.
///
/// A statement ends at a semicolon outside texts and comments; a trigger ends at the one after its `END` (as in
/// `sqlite3_complete`). SQLite itself finds a statement's end only by compiling it, which fails before the tables that
/// it names exist.
private struct SQLScanner {
    private let bytes: [UInt8]
    private var index = 0
    /// The line of `index`, from 1.
    private var line = 1
    /// The statement's first three words in capitals, which tell a trigger: CREATE [TEMP] TRIGGER. A word of more than
    /// 16 bytes is kept as an empty text.
    private var words: [String] = []
    /// Progress through `; END`: 0 for none, 1 after the semicolon, 2 after `END`.
    private var endCount = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The next non-empty statement; `nil` at the end.
    mutating func next() -> SQLScript.Statement? {
        var start: (index: Int, line: Int)?
        (words, endCount) = ([], 0)
        while index < bytes.count {
            let here = (index, line)
            guard passBlank() == false else { continue }
            if bytes[index] == UInt8(ascii: ";") {
                index += 1
                guard let begin = start else { continue }
                // A semicolon within a trigger's body ends one of its statements only.
                if !isTrigger || endCount == 2 { return statement(from: begin) }
                endCount = 1
            } else {
                if start == nil { start = here }
                passToken()
            }
        }
        // The last statement needs no semicolon.
        return start.map { statement(from: $0) }
    }

    private func statement(from start: (index: Int, line: Int)) -> SQLScript.Statement {
        assert(start.index < index, "a statement has at least one byte")
        return SQLScript.Statement(text: String(decoding: bytes[start.index..<index], as: UTF8.self), line: start.line)
    }

    private var isTrigger: Bool {
        words.first == "CREATE" && words.dropFirst().prefix(2).contains("TRIGGER")
    }

    /// Skips one blank or one comment; false if neither comes next.
    private mutating func passBlank() -> Bool {
        let byte = bytes[index]
        if byte <= 0x20 {
            if byte == 0x0A { line += 1 }
            index += 1
        } else if starts(with: "--") {
            while index < bytes.count, bytes[index] != 0x0A { index += 1 }
        } else if starts(with: "/*") {
            index += 2
            while index < bytes.count, !starts(with: "*/") { step() }
            // A comment that is not closed ends with the text.
            index = min(index + 2, bytes.count)
        } else {
            return false
        }
        return true
    }

    /// Skips a word, a quoted text, or one other character.
    private mutating func passToken() {
        let start = index
        // A doubled quote within a quoted text reads as two texts side by side, which ends the same way.
        switch bytes[index] {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): pass(through: bytes[index])
        case UInt8(ascii: "["): pass(through: UInt8(ascii: "]"))
        case let byte where Self.isWord(byte):
            while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
            let word = index - start <= 16 ? String(decoding: bytes[start..<index], as: UTF8.self).uppercased() : ""
            if words.count < 3 { words.append(word) }
            endCount = endCount == 1 && word == "END" ? 2 : 0
            return
        default: index += 1
        }
        endCount = 0
    }

    /// Skips from an opening quote through its closing one, or to the end.
    private mutating func pass(through end: UInt8) {
        step()
        while index < bytes.count, bytes[index] != end { step() }
        index = min(index + 1, bytes.count)
    }

    /// Skips one byte and counts lines.
    private mutating func step() {
        if bytes[index] == 0x0A { line += 1 }
        index += 1
    }

    /// Returns true if these two ASCII bytes come next. Indexing `utf8Start` is right because every mark has two bytes.
    private func starts(with mark: StaticString) -> Bool {
        index + 1 < bytes.count && bytes[index] == mark.utf8Start[0] && bytes[index + 1] == mark.utf8Start[1]
    }

    /// Letters, digits, underscores and all bytes of other scripts. Clearing bit 0x20 makes ASCII letters capitals.
    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    }
}
