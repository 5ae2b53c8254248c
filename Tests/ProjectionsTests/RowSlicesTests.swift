import EventLog
import Testing

@testable import Projections

@Suite struct RowSlicesTests {
    private struct Stopped: Error {}

    @Test(arguments: [0, 1, 127, 128, 129, 20_000])
    func rowsComeInTheirOrder(count: Int) throws {
        var bytes: [UInt8] = []
        let slices = RowSlices(7..<7 + count) { row, writer in
            writer.number(UInt64(row))
            writer.raw("\n")
        }
        try slices.forEach { bytes.append(contentsOf: $0) }
        let expected = (7..<7 + count).map { "\($0)\n" }.joined()
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func aReaderThatFailsEndsIt() {
        var givenCount = 0
        let slices = RowSlices(0..<50_000) { row, writer in writer.number(UInt64(row)) }
        #expect(throws: Stopped.self) {
            try slices.forEach { _ in
                givenCount += 1
                if givenCount == 3 { throw Stopped() }
            }
        }
        #expect(givenCount == 3)
    }

    @Test(arguments: [0, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 99_999, 123_456_789, UInt64.max])
    func numbersAreWrittenWithAllTheirDigits(number: UInt64) {
        #expect(number.digitCount == String(number).utf8.count)
        var writer = CanonicalWriter()
        writer.number(number)
        #expect(writer.withBytes { String(decoding: $0, as: UTF8.self) } == String(number))
    }
}
