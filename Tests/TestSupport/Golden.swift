public import Foundation

/// Expected output that is kept in files.
public enum Golden {
    /// Whether goldens are rewritten (`UPDATE_GOLDENS=1`). Never where `CI` is set.
    public static var isUpdating: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["UPDATE_GOLDENS"] == "1" && environment["CI"] == nil
    }

    /// Compares a text with its golden.
    ///
    /// - Returns: What is wrong, in words with the first line that differs; `nil` where they are equal. With
    ///   `UPDATE_GOLDENS=1` the file is rewritten, and a text that differed is still wrong in that run.
    public static func difference(_ found: String, from file: URL) -> String? {
        guard let expected = try? String(contentsOf: file, encoding: .utf8) else {
            return write(found, to: file) ?? "there is no golden \(file.lastPathComponent); run with UPDATE_GOLDENS=1"
        }
        guard expected != found else { return nil }
        return write(found, to: file) ?? firstDifference(expected: expected, found: found, file: file)
    }

    private static func write(_ text: String, to file: URL) -> String? {
        guard isUpdating else { return nil }
        do {
            try Data(text.utf8).write(to: file)
            return "rewrote \(file.lastPathComponent); read the difference before you commit it"
        } catch {
            return "cannot write \(file.path): \(error)"
        }
    }

    private static func firstDifference(expected: String, found: String, file: URL) -> String {
        let left = expected.split(separator: "\n", omittingEmptySubsequences: false)
        let right = found.split(separator: "\n", omittingEmptySubsequences: false)
        let index = zip(left, right).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        let line = index ?? min(left.count, right.count)
        return """
            \(file.deletingLastPathComponent().lastPathComponent)/\(file.lastPathComponent) differs at line \(line + 1)
            expected: \(line < left.count ? String(left[line]) : "(end)")
            found:    \(line < right.count ? String(right[line]) : "(end)")
            """
    }
}
