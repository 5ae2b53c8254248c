import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite struct JSONScannerTests {
    private func accepts(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            var scanner = JSONScanner(buffer)
            do throws(JSONFault) {
                while try scanner.next() != nil {}
                return UTF8Text.firstFault(in: buffer) == buffer.count
            } catch {
                return false
            }
        }
    }

    @Test func everyConformanceTextIsAcceptedOrRefusedAsItShould() throws {
        guard let folder = PackageRoot.shared("conformance/json") else { return }
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
                let decoded = try text.withUnsafeBufferPointer { buffer in
                    var scanner = JSONScanner(buffer)
                    return try JSONEscape.decode(buffer, try #require(try scanner.next()))
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

    @Test(
        arguments: [
            ([0x61, 0x62], [0x61, 0x62]),
            ([0x61, 0xFF, 0x62], Array("a%FFb".utf8)),
            ([0xC3], Array("%C3".utf8)),
            ([0xED, 0xA0, 0x80], Array("%ED%A0%80".utf8)),
            ([0xC0, 0x80], Array("%C0%80".utf8)),
            ([0xF4, 0x90, 0x80, 0x80], Array("%F4%90%80%80".utf8)),
            ([0xE2, 0x82, 0xAC, 0xE2, 0x82], Array("€%E2%82".utf8)),
            (Array("0123456789abcdef".utf8) + [0x80], Array("0123456789abcdef%80".utf8)),
        ] as [([UInt8], [UInt8])]
    )
    func bytesThatAreNoTextArePercentEncoded(bytes: [UInt8], encoded: [UInt8]) {
        let result = UTF8Text.percentEncodingFaults(bytes)
        #expect(result.bytes == encoded)
        #expect(result.changed == (bytes != encoded))
        #expect(String(validating: result.bytes, as: UTF8.self) != nil)
        #expect(UTF8Text.restoringFaults(result.bytes) == bytes)
    }

    @Test func everyStringIsWrittenAsTheBytesItHas() throws {
        let text = Array((0..<0x80).map { Character(Unicode.Scalar($0)) } + ["ü", "😀"])
        let bytes = Array(String(text).utf8)
        var writer = JSONWriter()
        writer.string(bytes)
        let length = bytes.withUnsafeBufferPointer { JSONWriter.length(ofString: $0) }
        #expect(writer.bytes.count == length)
        let decoded = try writer.bytes.withUnsafeBufferPointer { buffer in
            var scanner = JSONScanner(buffer)
            let token = try #require(try scanner.next())
            return try JSONEscape.decode(buffer, token)
        }
        #expect(decoded == bytes)
        #expect(
            try JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed) as? String
                == String(text)
        )
    }

    @Test func mutatedCaptureLinesNeverCrash() {
        var generator = SeededGenerator(seed: 4_711)
        let lines = [
            #"{"t_ms":1767225600000,"dir":"in","raw":"{\"op\":2,\"d\":{\"tok\u0065n\":\"s\"}} \ud83d\ude00"}"#,
            #"{"t_ms":1,"path":"/tmp/vibestatus-a.json","op":"write","rawBase64":"\/wA="}"#,
            #"{"t_ms":1,"link":"close","code":1006}"#,
        ].map { Array($0.utf8) }
        var accepted = 0
        for round in 0..<6_000 {
            var line = lines[round % lines.count]
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 0..<line.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: line[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: line.remove(at: index)
                default: line.insert(line[Int.random(in: 0..<line.count, using: &generator)], at: index)
                }
            }
            if (try? line.withUnsafeBufferPointer({ try CaptureLine(parsing: $0) })) != nil { accepted += 1 }
        }
        #expect(accepted > 1_000)
        #expect(accepted < 6_000)
    }
}
