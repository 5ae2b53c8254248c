#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import EventLog

/// A walk over a mapped file gives the pages behind it back.
@Suite struct MapReleaseTests {
    /// As much as several stretches of a walk.
    private static let payloads = 96
    private static let payloadBytes = 512 << 10

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func aWalkOverALogLeavesFewOfItsPagesInMemory() throws {
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        for number in 0..<Self.payloads {
            _ = try store.append([
                DraftEvent(
                    recordedAt: Timestamp(seconds: Int64(number)),
                    source: try SourceName("app"),
                    kind: try EventKind("gateway.frame/1"),
                    payload: Self.payload(number)
                )
            ])
        }
        // Twice: what was given back is read again.
        for _ in 0..<2 {
            try store.read { session in
                var number = 0
                try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                    let byte = UInt8(truncatingIfNeeded: number)
                    event.withPayload { payload in
                        #expect(payload.count == Self.payloadBytes)
                        #expect(payload.first == byte && payload.last == byte)
                    }
                    number += 1
                    return true
                }
                #expect(number == Self.payloads)
                #expect(try residentBytes() < Self.payloads * Self.payloadBytes / 2)
            }
        }
    }

    private static func payload(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: payloadBytes)
    }

    /// How much of the mapped files below the folder is in the memory of this process.
    private func residentBytes() throws -> Int {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        var (bytes, isOurs) = (0, false)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            // The first line of a mapping names its file, if it has one.
            if words.first?.hasSuffix(":") == false { isOurs = line.contains(folder.path("L")) }
            if isOurs, words.first == "Rss:", words.count > 1, let kilobytes = Int(words[1]) {
                bytes += kilobytes << 10
            }
        }
        return bytes
    }
}
#endif
