import EventLog
import JSON

/// One HTML file that shows part of a log, and holds it: the page, the steps and the lines of an export. It opens from a disk, loads
/// nothing, and `ReportInput` reads the export out of it again. A page of another form holds the changes of an audit.
///
/// The log's content may come from an attacker. It stands in blocks of data that no browser runs or shows by itself, as compressed
/// pieces in base64; the page makes text of it and nothing else; and a content security policy admits the page's own script and style
/// alone, by their hashes.
public struct Report {
    private let write: ([UInt8]) throws -> Void

    /// The lines between which `ReportInput` finds the export.
    static let exportBegins = [line(beginning: .export), line(beginning: .log)]
    static let ends = "</script>"

    /// - Parameter write: Takes the file in pieces.
    public init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    /// Writes the whole file.
    ///
    /// - Parameters:
    ///   - title: The title of the page.
    ///   - isServed: Whether the page may ask the server that it comes from for what is appended.
    ///   - export: Passes each line of an export to its argument, the header first.
    ///   - steps: Does so with the lines of `Steps`.
    ///   - other: Does so with the lines of another reading of the same events; with no lines for a page of one reading.
    public func write(
        title: String,
        isServed: Bool = false,
        export: ((_ line: [UInt8]) throws -> Void) throws -> Void,
        steps: ((_ line: [UInt8]) throws -> Void) throws -> Void,
        other: ((_ line: [UInt8]) throws -> Void) throws -> Void = { _ in }
    ) throws {
        try begin(.steps, title: title, isServed: isServed)
        func put(_ name: Block, _ lines: ((_ line: [UInt8]) throws -> Void) throws -> Void) throws {
            var block = block(name)
            try lines { try block.add($0) }
            try block.end()
        }
        try put(.export, export)
        try put(.steps, steps)
        try put(.other, other)
        try end(.steps)
    }

    /// What a page shows, which decides its elements and its scripts.
    package enum Form {
        /// A log step by step.
        case steps
        /// The changes that an audit lists.
        case audit

        fileprivate var elements: [UInt8] {
            switch self {
            case .steps: PackageResources.page_html
            case .audit: PackageResources.audit_html
            }
        }

        fileprivate var style: [UInt8] {
            switch self {
            case .steps: PackageResources.page_css
            case .audit: PackageResources.page_css + PackageResources.audit_css
            }
        }

        /// The scripts in the order of their use, as one.
        fileprivate var script: [UInt8] {
            let own =
                switch self {
                case .steps:
                    [
                        PackageResources.data_js, PackageResources.rows_js, PackageResources.chunked_js,
                        PackageResources.served_js, PackageResources.filed_js, PackageResources.axis_js,
                        PackageResources.work_js, PackageResources.chat_js, PackageResources.event_js,
                        PackageResources.finds_js, PackageResources.page_js,
                    ]
                case .audit: [PackageResources.entries_js, PackageResources.change_js, PackageResources.audit_js]
                }
            return ([PackageResources.unpack_js, PackageResources.texts_js, PackageResources.elements_js] + own)
                .flatMap { $0 }
        }
    }

    /// A block of data of a page, by its id.
    package enum Block: String {
        case export, steps, other, log, index, audit
    }

    /// Writes everything before the blocks of data. The page's elements come from here, its title from outside.
    package func begin(_ form: Form, title: String, isServed: Bool = false) throws {
        // Taken apart before any text of a log is put in.
        var parts = Self.split(String(decoding: form.elements, as: UTF8.self))
        let policy =
            "default-src 'none'; script-src 'sha256-\(Self.hash(form.script))'; style-src 'sha256-\(Self.hash(form.style))'; "
            + (isServed ? "connect-src 'self'; " : "") + "base-uri 'none'; form-action 'none'"
        for (place, text) in [("POLICY", policy), ("TITLE", Self.escaped(title))] {
            parts = (Self.replaced(place, by: text, in: parts.0), Self.replaced(place, by: text, in: parts.1))
        }
        try write(Array((parts.0 + "<style>").utf8) + form.style + Array(("</style>" + parts.1).utf8))
    }

    /// A writer of the next block of data. It must end before another one begins.
    package func block(_ block: Block) -> BlockWriter { BlockWriter(block, write) }

    /// Writes everything behind the blocks of data.
    package func end(_ form: Form) throws {
        try write(Array("<script>".utf8) + form.script + Array("</script>\n</body></html>\n".utf8))
    }

    /// Writes lines in pieces of some 256 KiB, each compressed by itself and in base64 on a line of its own. Without lines there is
    /// no block.
    package struct BlockWriter {
        private let block: Block
        private let write: ([UInt8]) throws -> Void
        private var piece: [UInt8] = []
        private var isOpen = false
        /// How many pieces were written.
        package private(set) var pieceCount = 0

        fileprivate init(_ block: Block, _ write: @escaping ([UInt8]) throws -> Void) {
            (self.block, self.write) = (block, write)
        }

        /// Adds a line, with its LF.
        package mutating func add(_ line: [UInt8]) throws {
            piece += line
            if piece.count >= Report.pieceBytes { try writePiece() }
        }

        /// Ends the piece, if one was begun.
        package mutating func endPiece() throws {
            if !piece.isEmpty { try writePiece() }
        }

        /// Writes the rest.
        package mutating func end() throws {
            try endPiece()
            if isOpen { try write(Array((Report.ends + "\n").utf8)) }
        }

        private mutating func writePiece() throws {
            let head = isOpen ? "" : Report.line(beginning: block) + "\n"
            isOpen = true
            try write(Array((head + Base64.encode(try Gzip.compressed(piece)) + "\n").utf8))
            pieceCount += 1
            piece.removeAll(keepingCapacity: true)
        }
    }

    private static func line(beginning block: Block) -> String {
        "<script type=\"application/gzip\" id=\"\(block.rawValue)\">"
    }

    private static let pieceBytes = 1 << 18

    private static func hash(_ bytes: [UInt8]) -> String { Base64.encode(Hasher256.hash(bytes).bytes) }

    /// The text before the place of the style, and behind it.
    private static func split(_ head: String) -> (String, String) {
        let parts = head.split(separator: "{{STYLE}}", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts.first ?? ""), String(parts.dropFirst().first ?? ""))
    }

    private static func replaced(_ place: String, by text: String, in head: String) -> String {
        head.split(separator: "{{\(place)}}", omittingEmptySubsequences: false).joined(separator: text)
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

/// Finds the export in a report.
public struct ReportInput {
    private var isWithin = false

    /// Makes one.
    public init() {}

    /// Whether a file that begins with a line is a report.
    public static func isReport(_ first: [UInt8]) -> Bool { first.starts(with: Array("<!DOCTYPE html>".utf8)) }

    /// The lines of the export that a line of the file holds.
    ///
    /// - Throws: `EventLogError` with code `io` if it holds something else, or lines of more than 256 MiB.
    public mutating func lines(of line: [UInt8]) throws -> [[UInt8]] {
        guard isWithin else {
            isWithin = Report.exportBegins.contains { line.elementsEqual($0.utf8) }
            return []
        }
        isWithin = !line.starts(with: Array(Report.ends.utf8))
        guard isWithin else { return [] }
        guard let member = line.withUnsafeBytes({ Base64.decode($0) }) else {
            throw EventLogError(.io, operation: "decompress", object: "", reason: "it is no base64")
        }
        // Lines of steps, which an export has none of, begin with a space.
        return try Gzip.decompressed(member, bytesMax: Self.pieceBytesMax).split(separator: UInt8(ascii: "\n"))
            .filter { $0.first != UInt8(ascii: " ") }.map(Array.init)
    }

    /// A line of an export has at most 128 MiB.
    private static let pieceBytesMax = 256 << 20
}
