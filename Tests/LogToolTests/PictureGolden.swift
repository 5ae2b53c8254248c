import Foundation
import TestSupport
import Testing

/// The brightness of a page, as a text: a repository has no pictures.
enum PictureGolden {
    /// A part may be so much brighter or darker: another version of a font or of the browser.
    private static let (stepsMax, partsMax) = (3, 40)

    /// Compares a grid with the one that is kept, or keeps it where `UPDATE_GOLDENS` is set.
    static func check(_ grid: [String], _ name: String) throws {
        let url = PackageRoot.url.appending(path: "Fixtures/pictures/\(name).txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] != nil {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data((grid.joined(separator: "\n") + "\n").utf8).write(to: url)
        }
        let kept = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(kept.count == grid.count)
        var parts: [String] = []
        for (row, lines) in zip(kept, grid).enumerated() {
            for (column, sides) in zip(lines.0, lines.1).enumerated() {
                let values = (sides.0.hexDigitValue ?? -99, sides.1.hexDigitValue ?? 99)
                if abs(values.0 - values.1) > stepsMax { parts.append("\(column),\(row): \(values.0) is \(values.1)") }
            }
        }
        #expect(parts.count <= partsMax, "\(name): \(parts.prefix(10)); to keep the new one: UPDATE_GOLDENS=1")
    }
}
