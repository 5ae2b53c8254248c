import EventLog
import JSON
import Projections

/// Lists changes as one self-contained HTML page: no script, no image, nothing loaded from elsewhere. Rows are written
/// one after another.
///
/// The log's content may come from an attacker. Every text is escaped, control and bidirectional characters are written
/// out, and a content security policy blocks whatever a mistake might let through.
final class AuditPage: AuditPrinter {
    private let title: String
    private let asked: String
    private let write: ([UInt8]) throws -> Void
    private let finish: () throws -> Void

    /// - Parameters:
    ///   - title: The log's name.
    ///   - asked: The options that chose the changes.
    ///   - write: Takes the page in pieces.
    ///   - finish: Called once, behind the last piece.
    init(title: String, asked: String, write: @escaping ([UInt8]) throws -> Void, finish: @escaping () throws -> Void) {
        (self.title, self.asked, self.write, self.finish) = (title, asked, write, finish)
    }

    /// Writes everything up to the first row. Only title and selection are text from outside.
    func begin() throws {
        // The policy admits this one style sheet by its hash (Content Security Policy Level 3, section 2.3.1), not
        // inline styles in general.
        let hash = Base64.encode(Hasher256.hash(Array(Self.style.utf8)).bytes)
        try put(
            """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-\(hash)'; \
            base-uri 'none'; form-action 'none'">
            <meta name="referrer" content="no-referrer">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Audit of \(HTMLText.escaped(title))</title>
            <style>\(Self.style)</style></head><body>
            <h1>Audit of <bdi>\(HTMLText.escaped(title))</bdi></h1>
            <p class="quiet">Asked for: \(HTMLText.escaped(asked)). Times are UTC.</p>
            <table><thead><tr><th>event</th><th>remote time</th><th>recorded</th><th>change</th><th>thing</th>\
            <th>by</th><th>what it said</th></tr></thead><tbody>

            """
        )
    }

    /// The class of the row is one of four words of this program; everything else is escaped.
    func print(_ line: AuditLine) throws {
        let entry = line.change.entry
        let notes = line.notes.map { "<br><span class=\"quiet\">\(HTMLText.escaped($0))</span>" }.joined()
        try put(
            """
            <tr class="\(line.change.class.rawValue)"><td>\(entry.sequence)</td>\
            <td>\(HTMLText.cell(entry.remoteTime.map(TimeText.full)))</td><td>\(TimeText.full(entry.recordedAt))</td>\
            <td>\(HTMLText.escaped(entry.change))\(notes)</td>\
            <td><bdi>\(HTMLText.escaped(line.change.entity.description))</bdi></td>\
            <td>\(HTMLText.cell(entry.by))</td><td>\(Self.fields(of: line))</td></tr>

            """
        )
    }

    /// Closes the table and names size and root, by which a holder of the log can compare.
    func end(_ summary: AuditSummary) throws {
        let missing = summary.missing.map { "<p class=\"warning\">Not complete: \(HTMLText.escaped($0)).</p>\n" }
        try put(
            """
            </tbody></table>
            <p>\(summary.countText).</p>
            \(missing.joined())<p class="quiet">Read out of a log of \(summary.size) events with the root hash \
            <code>\(summary.root)</code>. Whoever has the log can compare: <code>logtool root LOG</code>; \
            <code>logtool prove LOG EVENT</code> proves one event.</p>
            </body></html>

            """
        )
        try finish()
    }

    private func put(_ text: String) throws { try write(Array(text.utf8)) }

    private static func fields(of line: AuditLine) -> String {
        line.differences.map { field in
            "<div><span class=\"name\">\(HTMLText.escaped(field.name))</span> "
                + "<bdi class=\"text\">\(change(from: field.before, to: field.after))</bdi></div>"
        }.joined()
    }

    /// A change by words, removed words in `del` and added ones in `ins`.
    private static func change(from old: JSONValue?, to new: JSONValue?) -> String {
        let (before, after) = (old.map(text), new.map(text))
        guard let before, let after else {
            return HTMLText.marked(before, "del") + HTMLText.marked(after, "ins")
        }
        return WordDiff.pieces(from: before, to: after).map { piece in
            switch piece {
            case .kept(let text): HTMLText.escaped(text)
            case .removed(let text): HTMLText.marked(text, "del")
            case .added(let text): HTMLText.marked(text, "ins")
            }
        }.joined()
    }

    /// A text as it is, any other value as JSON.
    private static func text(of value: JSONValue) -> String { value.string ?? value.text }

    /// The page's only style sheet. The policy admits it by hash, so each change of a byte changes the policy, too.
    private static let style = """
        body{font:15px/1.45 system-ui,sans-serif;margin:2em;color:#1b1b1b;background:#fff}
        h1{font-size:1.4em}table{border-collapse:collapse;width:100%}
        th,td{border-top:1px solid #ddd;padding:.4em .6em;text-align:left;vertical-align:top}
        th:last-child,td:last-child{width:60%}td:nth-child(5),td:nth-child(6){overflow-wrap:anywhere;font-size:.9em}
        .text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
        .name,.quiet{color:#666;font-size:.9em}.warning{background:#fff3cd;padding:.6em}
        del{background:#ffe3e3}ins{background:#dff5df;text-decoration:none}
        .delete td:nth-child(4){color:#b00020}
        @media(max-width:60em){body{margin:1em}thead{display:none}table,tbody,tr,td{display:block}td,td:last-child{width:auto}
        tr{border-top:1px solid #ddd;padding:.5em 0}td{border:0;padding:.1em 0}td:nth-child(2)::before{content:"remote "}
        td:nth-child(3)::before{content:"recorded "}td:nth-child(6)::before{content:"by "}}
        """
}

/// Text within a page.
enum HTMLText {
    /// The text with all markup escaped, for element content and attribute values in quotes. Line breaks stay; other
    /// control characters are written out.
    static func escaped(_ text: String) -> String {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return lines.map { line in
            var result = ""
            for scalar in DisplayText.escaped(String(line)).unicodeScalars {
                result += MarkupText.reference(to: scalar) ?? String(scalar)
            }
            return result
        }.joined(separator: "\n")
    }

    /// The remote's value, or a note that the remote does not tell. `bdi` keeps a text's direction from turning the
    /// cells beside it.
    static func cell(_ text: String?) -> String {
        text.map { "<bdi>\(escaped($0))</bdi>" } ?? "<span class=\"quiet\">the remote does not tell</span>"
    }

    /// A removed or added text in a tag; empty for `nil`.
    static func marked(_ text: String?, _ tag: String) -> String {
        text.map { "<\(tag)>\(escaped($0))</\(tag)>" } ?? ""
    }
}
