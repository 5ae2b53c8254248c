import Testing

@testable import Ingest

@Suite struct GitCommitObjectTests {
    struct Person: CustomTestStringConvertible, Sendable {
        let line: String
        let name: String
        let email: String
        let time: Int?
        var testDescription: String { line }
    }

    @Test(arguments: [
        Person(line: "Ada <a@b> 12 +0530", name: "Ada", email: "a@b", time: 12),
        Person(line: " <> 12 +0000", name: "", email: "", time: 12),
        Person(line: "<a@b> 0 +0000", name: "", email: "a@b", time: 0),
        Person(line: "Ada <a@b> -86400 +0000", name: "Ada", email: "a@b", time: -86_400),
        Person(line: "Ada <a@b>", name: "Ada", email: "a@b", time: nil),
        Person(line: "Ada <a@b> 99999999999999999999 +0000", name: "Ada", email: "a@b", time: nil),
        Person(line: "Ada <a@b> soon +0000", name: "Ada", email: "a@b", time: nil),
        Person(line: "Ada", name: "Ada", email: "", time: nil),
        Person(line: "Ada <a@b", name: "Ada", email: "a@b", time: nil),
        Person(line: "A <b> C <a@b> 5 +0000", name: "A", email: "b", time: 5),
    ])
    func aPersonIsReadAsFarAsItGoes(_ person: Person) {
        let commit = GitCommitObject(Array("tree x\nauthor \(person.line)\n\nm".utf8))
        #expect(String(decoding: commit.author.name, as: UTF8.self) == person.name)
        #expect(String(decoding: commit.author.email, as: UTF8.self) == person.email)
        #expect(commit.author.time == person.time.map(Int64.init))
    }

    @Test(arguments: [
        ("one\ntwo\n\nbody", "one two"), ("\n\n one  \n\t\nbody", " one"), ("", ""), ("\n", ""), ("x\r\n\r\ny", "x"),
    ])
    func theSubjectIsTheFirstParagraph(message: String, subject: String) {
        let commit = GitCommitObject(Array("tree x\n\n\(message)".utf8))
        #expect(String(decoding: commit.subject, as: UTF8.self) == subject)
        #expect(String(decoding: commit.message, as: UTF8.self) == message)
    }
}
