import Foundation
import TestSupport
import Testing

/// Adds an app to the package as docs/evolution.md says.
///
/// Only the program can tell what an app touches: so the app of the page is added in a copy of the package, built and
/// replayed.
@Suite struct NewAppTests {
    /// A change of one file: `new` takes the place of `old`, which the file must have once.
    private struct Edit {
        let file: String
        let old: String
        let new: String

        /// Adds a line behind another one.
        init(_ file: String, after line: String, _ added: String) {
            (self.file, old, new) = (file, line + "\n", line + "\n" + added + "\n")
        }

        init(_ file: String, _ old: String, becomes new: String) {
            (self.file, self.old, self.new) = (file, old, new)
        }

        func apply(in root: URL) throws {
            let url = root.appending(path: file)
            let text = try String(contentsOf: url, encoding: .utf8)
            try #require(text.components(separatedBy: old).count == 2, "\(file) must contain once: \(old)")
            try Data(text.replacing(old, with: new).utf8).write(to: url)
        }
    }

    private static let kinds = "Sources/Kinds/KnownKind.swift"
    private static let parts = "Sources/Projections/State/SourceParts.swift"
    private static let capture = "Sources/Ingest/Capture/CaptureKind.swift"
    private static let decoder = "Sources/Projections/Decoding/Todo/TodoDecoder.swift"

    private static let table = [
        Edit(
            kinds,
            after: #"    case cloudKitRecords = "cloudkit.records/1""#,
            #"    case todoChange = "todo.change/1""#
        ),
        Edit(
            kinds,
            "        case .recorderLink: Row(",
            becomes: #"        case .todoChange: Row(.todo, .todo, nil, .value, .member("op"))"# + "\n"
                + "        case .recorderLink: Row("
        ),
        Edit(kinds, "    case git, gateway, gatewayAnswer,", becomes: "    case todo, git, gateway, gatewayAnswer,"),
        Edit(kinds, "    case git, gateway, items, status,", becomes: "    case todo, git, gateway, items, status,"),
        Edit(kinds, "        case .items, .status,", becomes: "        case .todo, .items, .status,"),
    ]

    private static let state = [
        Edit(parts, after: "    var recorderGaps = RecorderGaps()", "    var todos = TodoDecoder()"),
        Edit(
            parts,
            after: #"        try visitor.visit("recorderGaps", &recorderGaps, &context)"#,
            #"        try visitor.visit("todos", &todos, &context)"#
        ),
        Edit(
            parts,
            after: "        case .gap: parts.recorderGaps.read(payload, context: &context)",
            "        case .todo: parts.todos.decode(envelope, payload: payload, into: &changes, context: &context)"
        ),
    ]

    private static let form = [
        Edit(capture, after: "    case status", "    /// Changes of a to-do list.\n    case todo"),
        Edit(capture, after: "        case .status: .statusFile", "        case .todo: .todoChange"),
        Edit(capture, "        case .status, .ws,", becomes: "        case .todo, .status, .ws,"),
    ]

    /// The decoder of the page.
    private static func pageDecoder() throws -> String {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/evolution.md"), encoding: .utf8)
        let app = try #require(page.components(separatedBy: "## An app\n").last)
        let code = try #require(app.components(separatedBy: "```swift\n").dropFirst().first)
        return "import EventLog\n\n" + (try #require(code.components(separatedBy: "```").first))
    }

    private static func addDecoder(in root: URL) throws {
        let url = root.appending(path: decoder)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(try pageDecoder().utf8).write(to: url)
    }

    @Test func thePageListsTheFilesThatAnAppTouches() throws {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/evolution.md"), encoding: .utf8)
        let app = try #require(page.components(separatedBy: "## An app\n").last?.components(separatedBy: "\n## ").first)
        let listed = app.matches(of: /(?m)^[0-9]\. `([^`]+)`/).map { String($0.1) }
        #expect(listed.count <= 8)
        #expect(
            Set((Self.table + Self.state + Self.form).map(\.file) + [Self.decoder])
                == Set(listed.filter { $0.hasPrefix("Sources/") })
        )
        #expect(
            listed.filter { !$0.hasPrefix("Sources/") } == [
                "ARCHITECTURE.md", "docs/events.md", "Fixtures/events/NAME", "Fixtures/formats/vN",
            ]
        )
    }

    /// Each edit has its place in the code of today.
    @Test func theEditsFit() throws {
        let copy = try TemporaryDirectory()
        for file in Set((Self.table + Self.state + Self.form).map(\.file)) {
            let target = copy.url.appending(path: file)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(at: PackageRoot.url.appending(path: file), to: target)
        }
        for edit in Self.table + Self.state + Self.form { try edit.apply(in: copy.url) }
    }

    private static let isOn = ProcessInfo.processInfo.environment["EVENTLOG_APP_TESTS"] != nil

    @Test(.enabled(if: isOn, "it builds the package twice: EVENTLOG_APP_TESTS=1"))
    func theAppIsAddedWithTheCompilersHelp() throws {
        let copy = try TemporaryDirectory()
        let root = copy.url.appending(path: "package")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for name in ["Package.swift", "Package.resolved", "Sources", "Tests", "Benchmarks"] {
            try FileManager.default.copyItem(at: PackageRoot.url.appending(path: name), to: root.appending(path: name))
        }

        // With the table alone, the compiler names the one file of the state that lacks the family.
        for edit in Self.table + Self.form { try edit.apply(in: root) }
        try Self.addDecoder(in: root)
        let first = try Self.build(root)
        #expect(first.exitCode != 0)
        let named = Set(first.output.matches(of: /(Sources\/[^ :]+\.swift):[0-9]+:[0-9]+: error:/).map { String($0.1) })
        #expect(named == [Self.parts], "\(first.output.suffix(4_000))")

        for edit in Self.state { try edit.apply(in: root) }
        let second = try Self.build(root)
        try #require(second.exitCode == 0, "\(second.output.suffix(4_000))")

        let lines = [
            #"{"op":"put","id":"a","text":"Milk"}"#, #"{"op":"put","id":"b","text":"Bread","due":"2026-05-02"}"#,
            #"{"op":"remove","id":"a"}"#,
        ].enumerated().map { number, raw in
            #"{"t_ms":\#(1_767_225_600_000 + number),"dir":"in","raw":"\#(raw.replacing("\"", with: "\\\""))"}"#
        }
        try copy.write(lines.joined(separator: "\n") + "\n", to: "todo.ndjson")
        let program = root.appending(path: ".build/debug/logtool")
        let ingest = ["ingest", "L", "capture", "todo.ndjson", "--kind", "todo", "--as", "list"]
        #expect(try ToolRun.run(ingest, in: copy, program: program).exitCode == 0)
        let events = try ToolRun.run(["events", "L"], in: copy, program: program)
        #expect(events.output.contains("todo.change/1") && events.output.contains("remove"), "\(events.output)")
        let state = try ToolRun.run(["replay", "L", "--json"], in: copy, program: program)
        #expect(state.output.contains("Bread") && state.output.contains("2026-05-02"), "\(state.output)")
        #expect(!state.output.contains("Milk") && state.output.contains(#""issues":[]"#), "\(state.output)")
    }

    /// Builds the program without recorders.
    private static func build(_ root: URL) throws -> (exitCode: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swift", "build", "--product", "logtool", "--disable-default-traits", "--package-path", root.path,
        ]
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }
}
