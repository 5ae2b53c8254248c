import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct ProveCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40, isLarge: true)
    }

    @Test func anEventIsProvedAndTheProofHoldsWithoutTheLog() throws {
        let proof = try tool("prove", "L", "17", "--json")
        #expect(proof.exitCode == 0)
        try folder.write(proof.output, to: "p.json")
        try FileManager.default.moveItem(atPath: folder.path("L"), toPath: folder.path("M"))
        let check = try tool("prove", "--check", "p.json")
        #expect(check.exitCode == 0)
        #expect(check.output.hasPrefix("holds: sequence 17 is in the log of 42 events with the root "))
        let piped = try ToolRun.run(["prove", "--check", "-", "--json"], in: folder, input: Data(proof.output.utf8))
        #expect(piped.exitCode == 0)
        #expect(piped.output.hasPrefix(#"{"holds":true,"#))
    }

    @Test func theMembersAreTheDocumentedOnes() throws {
        let proof = try object("prove", "L", "17", "--size", "20", "--json")
        #expect(
            Set(proof.keys)
                == ["sequence", "leafIndex", "treeSize", "root", "leafHash", "leaf", "salt", "proof", "event"]
        )
        #expect(proof["leafIndex"] as? String == "16")
        #expect(proof["treeSize"] as? String == "20")
        let event = try #require(proof["event"] as? [String: Any])
        #expect(event["salt"] as? String == proof["salt"] as? String)
        #expect((event["payload"] as? String)?.contains("message 15") == true)
        let root = try object("root", "L", "--size", "20", "--json")
        #expect(proof["root"] as? String == root["root"] as? String)
    }

    @Test(arguments: ["message 15", "guild", "2026-01-01T00:00:16", #""sequence":"17""#, #""leafIndex":"16""#])
    func anAlteredProofDoesNotHold(text: String) throws {
        let proof = try tool("prove", "L", "17", "--json").output
        let altered = proof.replacingOccurrences(
            of: text,
            with: text.replacingOccurrences(of: "6", with: "7").replacingOccurrences(of: "17", with: "18")
                .replacingOccurrences(of: "5", with: "6").replacingOccurrences(of: "gu", with: "bu")
        )
        try #require(altered != proof)
        try folder.write(altered, to: "p.json")
        let check = try tool("prove", "--check", "p.json")
        #expect(check.exitCode == 1)
        #expect(check.errors.contains("it does not hold: "))
    }

    @Test(arguments: ["root", "leafHash", "leaf", "salt", "proof"])
    func aProofWithAnotherMemberDoesNotHold(member: String) throws {
        var proof = try object("prove", "L", "17", "--json")
        let other = try object("prove", "L", "18", "--size", "30", "--json")
        proof[member] = other[member]
        try JSONSerialization.data(withJSONObject: proof).write(to: URL(filePath: folder.path("p.json")))
        #expect(try tool("prove", "--check", "p.json").exitCode == 1)
    }

    @Test func ofADroppedEventTheLeafHashIsProved() throws {
        #expect(try tool("compact", "L", "--keep", "5").exitCode == 0)
        let proof = try tool("prove", "L", "17", "--json").output
        #expect(!proof.contains(#""leaf":"#) && !proof.contains(#""event":"#) && !proof.contains(#""salt":"#))
        try folder.write(proof, to: "p.json")
        #expect(try tool("prove", "--check", "p.json").output.contains("the leaf hash of sequence 17"))
    }

    @Test func aLogThatGrewIsConsistent() throws {
        let proof = try tool("prove", "L", "--consistency", "7", "42", "--json").output
        #expect(proof.hasPrefix(#"{"first":"7","second":"42","firstRoot":"#))
        try folder.write(proof, to: "p.json")
        let check = try tool("prove", "--check", "p.json")
        #expect(check.exitCode == 0)
        #expect(check.output.hasPrefix("holds: the log of 7 events"))
        try folder.write(proof.replacingOccurrences(of: #""7""#, with: #""8""#), to: "q.json")
        #expect(try tool("prove", "--check", "q.json").exitCode == 1)
    }

    @Test(arguments: ["L 43", "L 0", "L 17 --size 16", "L 17 --size 43"])
    func whatIsNotInTheLogEndsWith1(arguments: String) throws {
        #expect(try prove(arguments) == 1)
    }

    @Test(arguments: ["L", "L --consistency 3", "", "--check c.ndjson", "--check p.json L", "L 3 4"])
    func whatCannotBeUnderstoodEndsWith2(arguments: String) throws {
        #expect(try prove(arguments) == 2)
    }

    @Test func whereThereIsNoLogTheCodeIs10() throws {
        #expect(try prove("nowhere 1") == 10)
    }

    private func prove(_ arguments: String) throws -> Int32 {
        let words = arguments.split(separator: " ").map { String($0) }
        return try ToolRun.run(["prove"] + words, in: folder).exitCode
    }

    private func object(_ arguments: String...) throws -> [String: Any] {
        let output = try ToolRun.run(arguments, in: folder).output
        return try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] ?? [:]
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}
