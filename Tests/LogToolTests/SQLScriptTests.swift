import Testing

@testable import CacheTables

@Suite struct SQLScriptTests {
    @Test func statementsEndAtSemicolonsOutsideTextsAndComments() throws {
        let script = """
            -- a; comment
            CREATE TABLE a (x TEXT DEFAULT 'a;''b');
            /* another; */ CREATE TABLE "b;c" (y);;
            CREATE TRIGGER t AFTER INSERT ON a BEGIN
                DELETE FROM a WHERE x = CASE WHEN 1 THEN 2 END;
                SELECT 1;
            END;
            SELECT [e;f]
            """
        let statements = try SQLScript(name: "s", text: script).statements()
        #expect(statements.map(\.line) == [2, 3, 4, 8])
        #expect(
            statements.map { $0.text.prefix(14) } == [
                "CREATE TABLE a", "CREATE TABLE \"", "CREATE TRIGGER", "SELECT [e;f]",
            ]
        )
        #expect(statements[2].text.hasSuffix("END;"))
    }

    @Test(arguments: ["", " ;; ", "-- nothing", "/* nothing", "'", "\"", "[", "CREATE TRIGGER"])
    func anyTextComesToAnEnd(text: String) throws {
        #expect(try SQLScript(name: "s", text: text).statements().count <= 1)
    }

    @Test func aScriptOfSemicolonsIsReadInLinearTime() throws {
        let text = "CREATE TRIGGER t BEGIN " + String(repeating: "SELECT 1;", count: 200_000)
        #expect(try SQLScript(name: "s", text: text).statements().count == 1)
    }
}
