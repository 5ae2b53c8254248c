import EventLog
import JSON

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Finds bytes that are not UTF-8 (RFC 3629), and encodes them.
package enum UTF8Text {
    /// True if the bytes contain a NUL, which texts do not.
    static func containsNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = bytes.baseAddress else { return false }
        return memchr(base, 0, bytes.count) != nil
    }

    /// The bytes, with each byte that is not UTF-8 written as `%XX`; `changed` is true if there was one. A `%` of the
    /// text itself stays as it is.
    static func percentEncodingFaults(_ bytes: [UInt8]) -> (bytes: [UInt8], changed: Bool) {
        bytes.withUnsafeBufferPointer { buffer in
            var fault = UTF8Sequence.firstFault(in: buffer)
            guard fault < buffer.count else { return (bytes, false) }
            var encoded: [UInt8] = []
            var start = 0
            while fault < buffer.count {
                encoded.append(contentsOf: buffer[start..<fault])
                PercentEncoding.append(buffer[fault], to: &encoded)
                start = fault + 1
                fault = UTF8Sequence.firstFault(in: buffer, from: start)
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

    /// A path with its faults encoded. If it has any, a `%` that `restoringPath` would take for part of one is written as
    /// `%25`, so that no two paths are written alike.
    static func percentEncodingPath(_ path: [UInt8]) -> (bytes: [UInt8], changed: Bool) {
        let (bytes, isEncoded) = percentEncodingFaults(path)
        guard isEncoded, path.contains(UInt8(ascii: "%")) else { return (bytes, isEncoded) }
        return percentEncodingFaults(PercentEncoding.escapingSigns(path))
    }

    /// The bytes before `percentEncodingPath`, for an encoding that changed something.
    package static func restoringPath(_ bytes: [UInt8]) -> [UInt8] {
        PercentEncoding.restoringSigns(restoringFaults(bytes))
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
}
