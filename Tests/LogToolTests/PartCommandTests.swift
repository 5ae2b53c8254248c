import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

@Suite struct PartCommandTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40)
    }

    @Test func oneMessageGoesWithoutTheTextsOfOthers() throws {
        #expect(try tool("export", "L", "--entity", "message:1007", "-o", "p.ndjson").exitCode == 0)
        let text = try String(contentsOfFile: folder.path("p.ndjson"), encoding: .utf8)
        #expect(text.contains(#""what":"part""#) && text.contains("message 7") && !text.contains("message 8"))
        let run = try tool("import", "P", "p.ndjson")
        #expect(run.exitCode == 0)
        #expect(run.errors.contains("events are missing: the file is a part"))
        let verify = try tool("verify", "P")
        #expect(verify.output.contains("missing, since the log is a part"))
        #expect(try tool("root", "P").output == tool("root", "L").output)
        try folder.write(tool("prove", "P", "9", "--json").output, to: "proof.json")
        #expect(try tool("prove", "--check", "proof.json").exitCode == 0)
        #expect(try tool("prove", "P", "20").exitCode == 1)
        #expect(try tool("replay", "P").output.contains("message 7"))
        let events = try tool("events", "P")
        #expect(events.exitCode == 0)
        #expect(events.errors.contains(#""P" is a part: it holds "#))
        #expect(try tool("verify", "P", "--deep").exitCode == 0)
        #expect(try tool("backup", "P", "B").exitCode == 0)
        #expect(
            try tool("export", "P").output.split(separator: "\n").dropFirst() == text.split(separator: "\n").dropFirst()
        )
        #expect(try tool("ingest", "P", "capture", "c.ndjson", "--kind", "gateway", "--as", "x").exitCode == 2)
        #expect(try tool("status", "P").exitCode == 0)
        #expect(try tool("stats", "P").output.contains("missing"))
    }

    @Test(arguments: [
        (["--from", "5", "--to", "9"], 5), (["--without", "3,4"], 40), (["--source", "guild", "--to", "1"], 1),
        (["-n", "2"], 2), (["--from", "3", "--without", "3"], 39),
    ])
    func aPartHoldsWhatIsChosen(options: [String], count: Int) throws {
        let part = try ToolRun.run(["export", "L"] + options, in: folder)
        #expect(part.exitCode == 0, "\(part.errors)")
        try folder.write(part.output, to: "p.ndjson")
        let run = try tool("import", "P", "p.ndjson", "--json")
        #expect(run.output.hasPrefix(#"{"appended":\#(count),"#))
    }

    @Test(arguments: [["--source", "nobody"], ["--entity", "message:9"], ["--without", "99"], ["--from", "43"]])
    func whatIsNotThereMakesNoPart(options: [String]) throws {
        let run = try ToolRun.run(["export", "L", "-o", "p.ndjson"] + options, in: folder)
        #expect(run.exitCode != 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path("p.ndjson")))
    }

    @Test func aPartOfWhatIsNewBringsALogUpToDate() throws {
        try folder.write(tool("export", "L", "--to", "20").output, to: "old.ndjson")
        _ = try tool("import", "P", "old.ndjson")
        try folder.write(tool("export", "L").output, to: "whole.ndjson")
        _ = try tool("import", "W", "whole.ndjson")
        try folder.write(SampleCaptures.line(99, SampleCaptures.message(50)), to: "d.ndjson")
        _ = try tool("ingest", "L", "capture", "d.ndjson", "--kind", "gateway", "--as", "guild")
        try folder.write(tool("export", "L", "--from", "43").output, to: "new.ndjson")
        let run = try tool("import", "W", "new.ndjson", "--json")
        #expect(run.output.hasPrefix(#"{"appended":1,"duplicates":42,"#))
        #expect(try tool("root", "W").output == tool("root", "L").output)
        #expect(try !tool("verify", "W").errors.contains("part"))
        let refused = try tool("import", "P", "new.ndjson")
        #expect(refused.exitCode == 2)
    }

    /// Whatever is altered in a part is refused, or changes nothing of what the part holds.
    @Test func aForgedPartIsRefused() throws {
        let lines = try tool("export", "L", "--entity", "message:1007").output.split(separator: "\n").map(String.init)
        _ = try load(lines, into: "true")
        let truth = try held(in: "true")
        var random = SeededGenerator(seed: 21_006)
        var refused = 0
        let count = Self.isLong ? 3_000 : 150
        for round in 0..<count {
            let forged = try Self.forged(lines, &random)
            let path = "forged-\(round)"
            guard (try? load(forged, into: path)) != nil else {
                refused += 1
                #expect(!FileManager.default.fileExists(atPath: folder.path(path)))
                continue
            }
            #expect(try held(in: path) == truth, "round \(round)")
            try FileManager.default.removeItem(atPath: folder.path(path))
        }
        #expect(refused > count / 2, "\(refused) of \(count) refused")
    }

    /// Root, identity and everything that is held.
    private func held(in path: String) throws -> [String] {
        try EventStore.open(at: folder.path(path)).read { session in
            var events = ["\(try session.identity()) \(try session.root(size: session.head.rawValue))"]
            events.append(
                "\(try session.isPart()) \(session.decidedAt) \(try session.clock(at: session.head)?.description ?? "")"
            )
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                try session.check(event)
                events.append("\(event.copied())")
                return true
            }
            return events
        }
    }

    private func load(_ lines: [String], into path: String) throws -> ImportResult {
        var reader = ExportReader()
        var header = try reader.header(Array((lines.first ?? "").utf8))
        header.bookmarks = [:]
        return try EventStore.importLog(at: folder.path(path), header: header) { log in
            for line in lines.dropFirst() { try log.add(reader.piece(Array(line.utf8))) }
        }
    }

    /// One thing altered: a line gone, doubled, moved or split, a hash, a sequence or a level another.
    private static func forged(_ lines: [String], _ random: inout SeededGenerator) throws -> [String] {
        var lines = lines
        let place = Int.random(in: 1..<lines.count, using: &random)
        switch Int.random(in: 0...9, using: &random) {
        case 0: lines.remove(at: place)
        case 1: lines.insert(lines[place], at: place)
        case 2: lines.swapAt(place, Int.random(in: 1..<lines.count, using: &random))
        case 3: lines[0] = lines[0].replacingOccurrences(of: #""what":"part""#, with: #""what":"log""#)
        case 4:
            lines[0] = lines[0].replacingOccurrences(
                of: #""size":"42""#,
                with: #""size":"\#(Int.random(in: 1...80, using: &random))""#
            )
        case 5:
            // The subtree as one more, one less, or of a level that no tree has.
            var object = try JSONValue.parse(lines[place]).object ?? JSONObject()
            guard let level = object["level"]?.number?.uint64, let from = object["from"]?.string.flatMap({ UInt64($0) })
            else {
                return forgedByte(lines, place, &random)
            }
            let others: [UInt64] = [level + 1, level == 0 ? 63 : level - 1, 9, 64, 200]
            let other = others[Int.random(in: others.indices, using: &random)]
            object["level"] = .int(other)
            object["to"] = .string(String(from &+ (other < 64 ? UInt64(1) << other : 0) &- 1))
            lines[place] = JSONValue.object(object).text
        case 6:
            var object = try JSONValue.parse(lines[place]).object ?? JSONObject()
            let name = object["from"] == nil ? "sequence" : "from"
            let number = object[name]?.string.flatMap { UInt64($0) } ?? 1
            object[name] = .string(String(number + 1))
            if let to = object["to"]?.string.flatMap({ UInt64($0) }) { object["to"] = .string(String(to + 1)) }
            lines[place] = JSONValue.object(object).text
        case 7:
            lines[0] = lines[0].replacingOccurrences(
                of: #""what":"part""#,
                with: #""what":"part","decidedAt":"5","facts":{"projections/1":"e30="}"#
            )
        case 8:
            lines[0] = lines[0].replacingOccurrences(of: #""what":"part""#, with: #""what":"part","acts":["9"]"#)
        default: return forgedByte(lines, place, &random)
        }
        return lines
    }

    private static func forgedByte(_ lines: [String], _ place: Int, _ random: inout SeededGenerator) -> [String] {
        var (lines, bytes) = (lines, Array(lines[place].utf8))
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0x20...0x7E, using: &random)
        lines[place] = String(decoding: bytes, as: UTF8.self)
        return lines
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}
