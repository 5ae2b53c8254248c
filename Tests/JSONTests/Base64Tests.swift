import Foundation
import TestSupport
import Testing

@testable import JSON

@Suite struct Base64Tests {
    /// The vectors of RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func bytesHaveTheirText(bytes: String, text: String) {
        #expect(Base64.encode(Array(bytes.utf8)) == text)
        #expect(Base64.decode(text) == Array(bytes.utf8))
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Z===", "====", "=", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "Zm-_", "Zg==Zg==", "é===",
    ])
    func anyOtherTextIsRefused(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func randomBytesHaveTheTextThatFoundationWrites() {
        var generator = SeededGenerator(seed: 64)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decode(text) == bytes)
        }
    }
}
