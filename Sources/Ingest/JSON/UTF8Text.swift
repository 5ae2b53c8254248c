import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Finds bytes that are not UTF-8 (RFC 3629), and encodes them.
package enum UTF8Text {
    /// The index of the first byte at or after `start` that is not part of well-formed UTF-8; `count` if there is none.
    static func firstFault(in bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0) -> Int {
        var index = start
        while index < bytes.count {
            if bytes.count - index >= 8, let base = bytes.baseAddress {
                let eight = UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self)
                if eight & 0x8080_8080_8080_8080 == 0 {
                    index += 8
                    continue
                }
            }
            let length = sequenceLength(bytes, at: index)
            if length == 0 { return index }
            index += length
        }
        return bytes.count
    }

    /// True if the bytes contain a NUL, which texts do not.
    static func containsNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = bytes.baseAddress else { return false }
        return memchr(base, 0, bytes.count) != nil
    }

    /// The bytes, with each byte that is not UTF-8 written as `%XX`; `changed` is true if there was one.
    static func percentEncodingFaults(_ bytes: [UInt8]) -> (bytes: [UInt8], changed: Bool) {
        bytes.withUnsafeBufferPointer { buffer in
            var fault = firstFault(in: buffer)
            guard fault < buffer.count else { return (bytes, false) }
            var encoded: [UInt8] = []
            var start = 0
            while fault < buffer.count {
                encoded.append(contentsOf: buffer[start..<fault])
                PercentEncoding.append(buffer[fault], to: &encoded)
                start = fault + 1
                fault = firstFault(in: buffer, from: start)
            }
            encoded.append(contentsOf: buffer[start...])
            return (encoded, true)
        }
    }

    /// The bytes before `percentEncodingFaults`, for an encoding that changed something.
    package static func restoringFaults(_ bytes: [UInt8]) -> [UInt8] {
        // A fault is never ASCII, so `%41` stood in the original.
        PercentEncoding.decoded(bytes, from: 0x80)
    }

    /// A text with all bytes written as `%XX`, except for the unreserved characters of RFC 3986 and those of `kept`.
    static func percentEncoded(_ text: String, keeping kept: String = "") -> String {
        let plain = "-._~\(kept)".utf8
        let encoded = PercentEncoding.encoded(Array(text.utf8)) { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: plain.contains(byte)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
    /// The length of the well-formed sequence at an index (Unicode 15, table 3-7); 0 if there is none.
    private static func sequenceLength(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        let lead = bytes[index]
        if lead < 0x80 { return 1 }
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch lead {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xE1...0xEC, 0xEE, 0xEF: (3, 0x80...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0x80...0xBF)
            }
        guard length > 0, bytes.count - index >= length, second.contains(bytes[index + 1]) else { return 0 }
        for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 { return 0 }
        return length
    }
}
