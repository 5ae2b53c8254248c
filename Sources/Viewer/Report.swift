import EventLog
import JSON

/// One HTML file that shows part of a log, and holds it: the page, the steps and the lines of an export. It opens from a disk, loads
/// nothing, and `ReportInput` reads the export out of it again.
///
/// The log's content may come from an attacker. It stands in blocks of data that no browser runs or shows by itself, as compressed
/// pieces in base64; the page makes text of it and nothing else; and a content security policy admits the page's own script and style
/// alone, by their hashes.
public struct Report {
    private let write: ([UInt8]) throws -> Void

    /// The lines by which `ReportInput` finds the export.
    static let exportBegins = "<script type=\"application/gzip\" id=\"export\">"
    static let ends = "</script>"
    private static let stepsBegin = "<script type=\"application/gzip\" id=\"steps\">"
    private static let otherBegins = "<script type=\"application/gzip\" id=\"other\">"

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
        let style = PackageResources.page_css
        let script =
            PackageResources.data_js + PackageResources.served_js + PackageResources.axis_js + PackageResources.work_js
            + PackageResources.page_js
        // Taken apart before any text of a log is put in.
        var parts = Self.split(String(decoding: PackageResources.page_html, as: UTF8.self))
        let policy =
            "default-src 'none'; script-src 'sha256-\(Self.hash(script))'; style-src 'sha256-\(Self.hash(style))'; "
            + (isServed ? "connect-src 'self'; " : "") + "base-uri 'none'; form-action 'none'"
        for (place, text) in [("POLICY", policy), ("TITLE", Self.escaped(title))] {
            parts = (Self.replaced(place, by: text, in: parts.0), Self.replaced(place, by: text, in: parts.1))
        }
        try put(parts.0 + "<style>")
        try write(style)
        try put("</style>" + parts.1)
        try block(Self.exportBegins, export)
        try block(Self.stepsBegin, steps)
        try block(Self.otherBegins, other)
        try put("<script>")
        try write(script)
        try put("</script>\n</body></html>\n")
    }

    /// Writes lines in pieces of some 256 KiB, each compressed by itself and in base64 on a line of its own. Without lines there is
    /// no block.
    private func block(_ begins: String, _ lines: ((_ line: [UInt8]) throws -> Void) throws -> Void) throws {
        var piece: [UInt8] = []
        var isOpen = false
        func writePiece() throws {
            if !isOpen { try put(begins + "\n") }
            isOpen = true
            try put(Base64.encode(try Gzip.compressed(piece)) + "\n")
            piece.removeAll(keepingCapacity: true)
        }
        try lines { line in
            piece += line
            if piece.count >= Self.pieceBytes { try writePiece() }
        }
        if !piece.isEmpty { try writePiece() }
        if isOpen { try put(Self.ends + "\n") }
    }

    private static let pieceBytes = 1 << 18

    private func put(_ text: String) throws { try write(Array(text.utf8)) }

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
            isWithin = line.elementsEqual(Report.exportBegins.utf8)
            return []
        }
        isWithin = !line.starts(with: Array(Report.ends.utf8))
        guard isWithin else { return [] }
        guard let member = line.withUnsafeBytes({ Base64.decode($0) }) else {
            throw EventLogError(.io, operation: "decompress", object: "", reason: "it is no base64")
        }
        return try Gzip.decompressed(member, bytesMax: Self.pieceBytesMax).split(separator: UInt8(ascii: "\n")).map(
            Array.init
        )
    }

    /// A line of an export has at most 128 MiB.
    private static let pieceBytesMax = 256 << 20
}
