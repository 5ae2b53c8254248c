/// A text that equals another only if all bytes do. `String` itself takes canonically equivalent texts for the same,
/// and two files may well be named by a composed and a decomposed letter.
struct ExactText: Codable, Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (left: ExactText, right: ExactText) -> Bool {
        areSame(left.string, right.string)
    }

    /// Whether all bytes of two texts are the same.
    static func areSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.utf8, right.utf8)
        guard left.count == right.count else { return false }
        let isSame = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { left.elementsEqual($0) }
        }
        // A string bridged from Objective-C may not store its bytes contiguously.
        return (isSame ?? nil) ?? left.elementsEqual(right)
    }

    func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
