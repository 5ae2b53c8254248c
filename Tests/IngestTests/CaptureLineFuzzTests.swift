import TestSupport
import Testing

@testable import Ingest

@Suite struct CaptureLineFuzzTests {
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
            let whole = Self.reading(line, decodesFrame: true)
            if case .success = whole { accepted += 1 }
            // Without the frame's bytes the verdict is the same.
            #expect(Self.summary(whole) == Self.summary(Self.reading(line, decodesFrame: false)))
        }
        #expect(accepted > 1_000)
        #expect(accepted < 6_000)
    }

    private static func reading(_ line: [UInt8], decodesFrame: Bool) -> Result<CaptureLine, CaptureFault> {
        line.withUnsafeBufferPointer { bytes in
            Result { () throws(CaptureFault) in try CaptureLine(parsing: bytes, decodesFrame: decodesFrame) }
        }
    }

    /// Everything but a frame's bytes.
    private static func summary(_ reading: Result<CaptureLine, CaptureFault>) -> String {
        switch reading {
        case .failure(let fault): return fault.reason
        case .success(let line):
            let content =
                switch line.content {
                case .frame(let direction, let bytes): "\(direction) \(bytes.isEmpty)"
                case .file(let path, let isRemoval, let bytes): "\(path) \(isRemoval) \(bytes.isEmpty)"
                case .observed(let bytes): "\(bytes.isEmpty)"
                case .answer(let direction, let path, let status, let bytes):
                    "\(direction) \(path) \(status ?? "") \(bytes.isEmpty)"
                case .link(let state, let code, let path): "\(state) \(code ?? "") \(path ?? "")"
                }
            return "\(line.milliseconds) \(content)"
        }
    }
}
