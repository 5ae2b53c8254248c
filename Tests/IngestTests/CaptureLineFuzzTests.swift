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
            if (try? line.withUnsafeBufferPointer({ try CaptureLine(parsing: $0) })) != nil { accepted += 1 }
        }
        #expect(accepted > 1_000)
        #expect(accepted < 6_000)
    }
}
