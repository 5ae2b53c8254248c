import Testing

@testable import Clients
@testable import Projections

/// Literals of JavaScript: each text, and JavaScript's text of the value under `x`.
@Suite struct ScriptLiteralTests {
    @Test(arguments: [
        ("{x: 'ann'}", "ann"), ("{\"x\": \"a\\n\\x41\\u{1F600}\\\nb\"}", "a\nA\u{1F600}b"),
        ("({ x: `a\nb`, });", "a\nb"),
        ("{x: 0x1F}", "31"), ("{x: 0o17}", "15"), ("{x: -1_000.5e-1}", "-100.05"), ("{x: .5}", "0.5"),
        ("{x: [1, , null, 'a'],}", "1,,,a"),
        ("// first\n{ /* then */ y: {}, x: true }", "true"), ("{x: 1, x: 2}", "2"), ("{1: 'a', x: undefined}", "null"),
    ])
    func literalsAreData(text: String, value: String) throws {
        guard case .object(let members) = try ScriptLiteral.value(of: text) else { throw ScriptFault.code }
        #expect(try members[ExactText("x")]?.text() == value)
    }

    @Test(arguments: [
        "{x: ann}", "{x}", "{x: f()}", "{x: 'a' + 'b'}", "{x: `${1}`}", "{x: 'a'", "{...x}", "{[x]: 1}",
        "{x: 1} {y: 2}", "{x: 'a\nb'}", "process.exit()",
        "{get x() { return 1 }}", "{x: new Date()}", "{x: 1__0}", "{x: /a/}", "", "{x: '\\u{110000}'}",
    ])
    func codeIsNeverRun(text: String) {
        #expect(throws: ScriptFault.self) { try ScriptLiteral.value(of: text) }
    }
}
