import Foundation
import TestSupport
import Testing

@testable import EventLog

@Suite struct UnnamedFileTests {
    @Test func itHasNoNameAndHoldsWhatIsWritten() throws {
        let folder = try TemporaryDirectory()
        let file = UnnamedFile.make(in: folder.url.path)
        defer { close(file) }
        #expect(file >= 0)
        #expect(write(file, "abc", 3) == 3)
        lseek(file, 0, SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(read(file, &bytes, 4) == 3 && bytes == Array("abc".utf8) + [0])
        #expect(fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func aFolderThatIsMissingIsTold() throws {
        let folder = try TemporaryDirectory()
        #expect(UnnamedFile.make(in: folder.path("none")) < 0)
        #expect(errno == ENOENT)
    }
}
