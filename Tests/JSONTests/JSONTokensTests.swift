import Foundation
import TestSupport
import Testing

@testable import JSON

@Suite struct JSONTokensTests {
    private func accepts(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            var tokens = JSONTokens(buffer)
            do throws(JSONError) {
                while try tokens.next() != nil {}
                return UTF8Sequence.firstFault(in: buffer) == buffer.count
            } catch {
                return false
            }
        }
    }

    @Test(.needs(shared: "conformance/json"))
    func everyConformanceTextIsAcceptedOrRefusedAsItShould() throws {
        let folder = try #require(PackageRoot.shared("conformance/json"))
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        var counts = ["y": 0, "n": 0, "i": 0]
        for file in files.sorted() {
            let name = URL(fileURLWithPath: file).lastPathComponent
            let result = accepts(Array(try Data(contentsOf: folder.appendingPathComponent(file))))
            if name.hasPrefix("y_") { #expect(result, "\(name)") }
            if name.hasPrefix("n_") { #expect(!result, "\(name)") }
            counts[String(name.prefix(1)), default: 0] += 1
        }
        #expect((counts["y"] ?? 0) > 0 && (counts["n"] ?? 0) > 0)
    }

    /// Strings are read eight bytes at a time; no byte that means something is passed over, wherever it stands.
    @Test func everyByteIsSeenAtEveryPlaceOfAString() throws {
        for byte in 0...0xFF as ClosedRange<UInt8> {
            for place in 0..<18 {
                var text = [UInt8](repeating: UInt8(ascii: "x"), count: 19)
                text[place] = byte
                let ends = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 || byte > 0x7F
                #expect(accepts([0x22] + text + [0x22]) == !ends, "\(byte) at \(place)")
            }
        }
    }

    @Test func escapesAreDecodedAtEveryPlace() throws {
        let escapes = [
            (#"\n"#, "\n"), (#"\""#, "\""), (#"\\"#, "\\"), (#"\u00e9"#, "é"), (#"\ud83c\udf70"#, "🍰"),
            (#"\u0000"#, "\0"),
        ]
        for (written, meant) in escapes {
            for place in 0..<18 {
                let (start, end) = (String(repeating: "x", count: place), String(repeating: "y", count: 18 - place))
                let text = Array("\"\(start)\(written)\(end)\"".utf8)
                let decoded = try text.withUnsafeBytes { bytes in
                    var reader = JSONReader(bytes)
                    return try reader.string().decoded()
                }
                #expect(decoded == Array("\(start)\(meant)\(end)".utf8))
            }
        }
    }

    @Test func aTextIsRefusedWhereverItIsCut() {
        let text = Array(#"{"a":[1,-2.5e+3,true,false,null,"\u00e9\n"],"b":{"c":{}}}"#.utf8)
        #expect(accepts(text))
        for length in 0..<text.count { #expect(!accepts(Array(text[..<length])), "cut at \(length)") }
    }

    @Test func everyStringIsWrittenAsTheBytesItHas() throws {
        let text = Array((0..<0x80).map { Character(Unicode.Scalar($0)) } + ["ü", "😀"])
        let bytes = Array(String(text).utf8)
        var writer = JSONWriter()
        writer.string(bytes)
        let length = bytes.withUnsafeBufferPointer { JSONWriter.length(ofString: $0) }
        #expect(writer.bytes.count == length)
        let decoded = try writer.bytes.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            return try reader.string().decoded()
        }
        #expect(decoded == bytes)
        #expect(
            try JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed) as? String
                == String(text)
        )
    }
}
