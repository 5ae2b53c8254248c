import Clients
import EventLog
import EventLogTesting
import Projections

/// The results of a check, for people and for machines. All forms are made in memory.
///
/// A mismatch counts as a failure for machines, also where it was just written as the expected state: the report of an
/// update lists what it changed.
struct CheckReport {
    let results: [CheckResult]
    /// How long all fixtures took together, by the wall clock.
    let seconds: Duration
    /// True if mismatching states were written as the expected ones.
    let updates: Bool

    /// Fixtures with a mismatch, and those that cannot be used.
    private var failed: [CheckResult] { results.filter { $0.isUnusable || !$0.mismatches.isEmpty } }

    /// The failures with their reasons, then a line of counts. After an update, only fixtures that cannot be used count
    /// as failed.
    var text: String {
        var lines = failed.flatMap { Self.reason(for: $0).split(separator: "\n") }.map {
            DisplayText.escaped(String($0))
        }
        let count = results.count == 1 ? "1 fixture" : "\(results.count) fixtures"
        var counts = ["\(results.count - failed.count) passed"]
        if updates {
            let unusable = failed.count(where: \.isUnusable)
            counts.append("\(failed.count - unusable) updated")
            if unusable > 0 { counts.append("\(unusable) failed") }
        } else {
            counts.append("\(failed.count) failed")
        }
        lines.append("\(count): \(counts.joined(separator: ", ")) (\(Self.seconds(seconds)) s)")
        return lines.joined(separator: "\n")
    }

    /// TAP version 13 (https://testanything.org): the plan first, reasons as diagnostics.
    var tap: String {
        var lines = ["TAP version 13", "1..\(results.count)"]
        for (index, result) in results.enumerated() {
            let isGood = !result.isUnusable && result.mismatches.isEmpty
            lines.append("\(isGood ? "ok" : "not ok") \(index + 1) - \(DisplayText.escaped(result.name))")
            guard !isGood else { continue }
            lines += Self.reason(for: result).split(separator: "\n").map { "# " + DisplayText.escaped(String($0)) }
        }
        return lines.joined(separator: "\n")
    }

    /// One document (`docs/cli-json.md`). Fixtures that passed are in it, too.
    var json: JSONValue {
        .object([
            "passed": .int(results.count - failed.count),
            "failed": .int(failed.count),
            "fixtures": .array(
                results.map { result in
                    .object([
                        "name": .string(result.name),
                        "passed": .bool(!result.isUnusable && result.mismatches.isEmpty),
                        "reason": .text(result.trouble),
                        "differences": result.mismatches.isEmpty ? nil : .array(result.mismatches.map(Self.json)),
                    ])
                }
            ),
        ])
    }

    /// A JUnit report: one suite, one case for each fixture. A fixture that cannot be used is an error, a mismatch a
    /// failure. There is no official schema; CI servers read these elements.
    var junit: String {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<testsuite name="logtool check" tests="\#(results.count)" failures="\#(failed.filter { !$0.isUnusable }.count)" "#
                + #"errors="\#(results.filter(\.isUnusable).count)" time="\#(Self.seconds(seconds))">"#,
        ]
        for result in results {
            let time = Self.seconds(result.duration)
            let head = #"  <testcase classname="logtool.check" name="\#(Self.xml(result.name))" time="\#(time)""#
            if result.isUnusable || !result.mismatches.isEmpty {
                let element = result.isUnusable ? "error" : "failure"
                let reason = Self.reason(for: result)
                let first = reason.split(separator: "\n").first.map(String.init) ?? ""
                lines.append("\(head)>")
                lines.append(#"    <\#(element) message="\#(Self.xml(first))">\#(Self.xml(reason))</\#(element)>"#)
                lines.append("  </testcase>")
            } else {
                lines.append("\(head)/>")
            }
        }
        lines.append("</testsuite>\n")
        return lines.joined(separator: "\n")
    }

    /// One state that differs: for whom, where, how, and the event responsible. `a` is the expected state, `b` the one
    /// found.
    private static func json(_ mismatch: FixtureMismatch) -> JSONValue {
        .object([
            "profile": .string(mismatch.profile.rawValue),
            "at": .text(mismatch.state.point?.description),
            "differences": StateDiff.document(mismatch.differences)["differences"],
            "event": mismatch.responsible.map { .object(EventJSON.object(for: $0)) },
        ])
    }

    /// Why a fixture failed, in one or more lines. They may quote payloads, so every form escapes them.
    private static func reason(for result: CheckResult) -> String {
        result.trouble ?? result.mismatches.map(\.description).joined(separator: "\n")
    }

    /// Seconds with two digits of fraction, the rest cut off.
    private static func seconds(_ duration: Duration) -> String {
        let hundredths = duration.wholeMilliseconds / 10
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// Text within XML 1.0. Characters that XML 1.0 forbids (section 2.2) become U+FFFD. A line feed becomes a
    /// reference, because parsers turn it into a space within attributes.
    private static func xml(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "&#10;"
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result += MarkupText.reference(to: scalar) ?? String(scalar)
            }
        }
        return result
    }
}
