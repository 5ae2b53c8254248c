import Chromium
import Foundation
import TestSupport
import Testing

@testable import Viewer

/// A page that a command wrote: its blocks of data, its scripts under Node, its controls in a browser.
enum WebPage {
    /// The lines of a block of data. Of a page in chunks, the lines that the blocks `export` and `steps` of a page without
    /// chunks would have.
    static func block(_ id: String, of page: String) throws -> [[String: Any]] {
        let isInChunks = page.contains("id=\"log\"") && ["export", "steps"].contains(id)
        let lines = try bytes(of: isInChunks ? "log" : id, in: page).split(separator: UInt8(ascii: "\n"))
            .filter { !isInChunks || ($0.first == UInt8(ascii: " ")) == (id == "steps") }
            .map { try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]) }
        guard isInChunks, id == "steps" else { return lines }
        var index = try #require(try block("index", of: page).first)
        let ending = Dictionary(
            uniqueKeysWithValues: ["gaps", "connections"].map { ($0, index.removeValue(forKey: $0)) }
        )
        // Each chunk has a header and the state before it; the first one's is that of the whole.
        let steps = lines.enumerated().filter { place, line in
            line["format"] == nil && (place == 1 || lines[place - 1]["format"] == nil)
        }
        return [index] + steps.map(\.element) + [ending.compactMapValues { $0 }]
    }

    /// A block of data, decompressed.
    static func bytes(of id: String, in page: String) throws -> [UInt8] {
        let parts = page.components(separatedBy: "<script type=\"application/gzip\" id=\"\(id)\">\n")
        let lines = try #require(parts.dropFirst().first).components(separatedBy: "</script>")[0]
        return try lines.split(separator: "\n").flatMap { line in
            try Gzip.decompressed(Array(try #require(Data(base64Encoded: String(line)))), bytesMax: 1 << 24)
        }
    }

    static var node: String? {
        ["/usr/bin/node", "/usr/local/bin/node"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs checks under Node, which have `assert`, `random(count)` and some names of the scripts.
    static func check(_ scripts: [String], _ names: [String], _ checks: String, in folder: TemporaryDirectory) throws {
        let texts = try scripts.map { name in
            let url = PackageRoot.url.appending(path: "Sources/Viewer/Web/\(name).js")
            return try String(contentsOf: url, encoding: .utf8)
        }
        let all =
            "const { \(names.joined(separator: ", ")) } = (() => {\n\(texts.joined())\nreturn { \(names.joined(separator: ", ")) };\n})();\n"
        let head = """
            const assert = require("assert");
            let seed = 7;
            const random = (count) => (seed = (seed * 48271) % 2147483647) % count;

            """
        try folder.write(head + all + checks + "\nconsole.log(\"done\");\n", to: "checks.js")
        let process = Process()
        process.executableURL = URL(filePath: try #require(node))
        process.arguments = [folder.path("checks.js")]
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && output == "done\n", "\(output)")
    }

    /// The roles of controls without a name.
    static func unnamed(_ browser: Browser) throws -> [String] {
        let tree = try browser.call("Accessibility.getFullAXTree")["nodes"] as? [[String: Any]] ?? []
        let roles: Set<String> = [
            "button", "textbox", "searchbox", "slider", "combobox", "checkbox", "link", "dialog", "DisclosureTriangle",
            "navigation", "complementary", "group", "region", "Date", "spinbutton", "listbox", "option",
        ]
        #expect(tree.count > 50)
        return tree.compactMap { node in
            let role = (node["role"] as? [String: Any])?["value"] as? String ?? ""
            guard node["ignored"] as? Bool != true, roles.contains(role) else { return nil }
            let name = (node["name"] as? [String: Any])?["value"] as? String ?? ""
            return name.isEmpty ? role : nil
        }
    }
}
