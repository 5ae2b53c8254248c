import Foundation
import TestSupport
import Testing

/// The pages whose ```console blocks are sessions: each line that begins with `$ ` is run, in order and in one folder, and
/// what it prints stands below it.
@Suite struct GuideTests {
    @Test(arguments: ["README.md", "docs/guide.md", "docs/decoders.md"])
    func aPageShowsWhatItsCommandsPrint(path: String) throws {
        let file = PackageRoot.url.appending(path: path)
        let page = try String(contentsOf: file, encoding: .utf8)
        let session = try Session()
        var isConsole = false
        var lines: [String] = []
        for line in page.components(separatedBy: "\n") {
            switch line {
            case "```console": isConsole = true
            case "```": isConsole = false
            case _ where isConsole && !line.hasPrefix("$ "): continue
            default: break
            }
            lines.append(line)
            if isConsole, line.hasPrefix("$ ") { lines += try session.run(String(line.dropFirst(2))) }
        }
        if let difference = Golden.difference(lines.joined(separator: "\n"), from: file) {
            Issue.record("\(difference)")
        }
    }

    /// A folder in which the fixtures lie where a clone has them.
    private struct Session {
        private let folder: TemporaryDirectory

        init() throws {
            folder = try TemporaryDirectory()
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("Fixtures"),
                withDestinationPath: PackageRoot.url.appending(path: "Fixtures").path
            )
        }

        /// The lines that a shell command prints on both streams.
        func run(_ command: String) throws -> [String] {
            let programs = try ToolRun.executable.deletingLastPathComponent().path
            let run = try ToolRun.run(
                ["-c", "exec 2>&1; \(command)"],
                in: folder,
                environment: ["PATH": "\(programs):/usr/bin:/bin"],
                program: URL(filePath: "/bin/sh")
            )
            guard !run.output.isEmpty else { return [] }
            let text = run.output.hasSuffix("\n") ? String(run.output.dropLast()) : run.output
            return text.components(separatedBy: "\n").map { line in
                // Salts, and so roots, are drawn at random.
                line.trimmingSuffix(while: { $0 == " " })
                    .replacing(/the root [0-9a-f]{64}/, with: "the root 23a6dcb6…")
                    .replacing(/\([0-9]+\.[0-9]+ s\)/, with: "(0.01 s)")
            }
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(while isBlank: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        return String(text)
    }
}
