import Testing

@testable import Reduction

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct TestCommandTests {
    /// Of two variables with one name, one shell takes the first and another the last.
    @Test func aVariableReplacesThatOfTheProcess() throws {
        setenv("EVENTLOG_TEST_COMMAND", "ours", 1)
        let line = #"test "$(env | grep '^EVENTLOG_TEST_COMMAND=')" = EVENTLOG_TEST_COMMAND=theirs"#
        var command = TestCommand(line: line, timeout: .seconds(60), isQuiet: true)
        command.variables["EVENTLOG_TEST_COMMAND"] = "theirs"
        #expect(try command.run(on: []) == .code(0))
        #expect(try TestCommand(line: line, timeout: .seconds(60), isQuiet: true).run(on: []) == .code(1))
    }
}
