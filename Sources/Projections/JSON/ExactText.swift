import EventLog

/// A text that equals another only if all bytes do. `String` treats canonically equivalent texts as equal, but two
/// files can have names that differ only in whether a letter is composed.
struct ExactText: Codable, Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (left: ExactText, right: ExactText) -> Bool {
        areSame(left.string, right.string)
    }

    /// Whether two texts have the same bytes.
    static func areSame(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        let isSame = right.utf8.withContiguousStorageIfAvailable { left.hasBytes($0) }
        // A string bridged from Objective-C may not store its bytes contiguously.
        return isSame ?? left.utf8.elementsEqual(right.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether the text has exactly these bytes.
    @inline(__always)
    func hasBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == bytes.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable {
            sameBytes(UnsafeRawBufferPointer($0), UnsafeRawBufferPointer(bytes))
        }
        return isSame ?? utf8.elementsEqual(bytes)
    }
}
