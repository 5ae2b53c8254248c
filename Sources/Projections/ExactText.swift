/// A text that equals another only if all bytes do. `String` itself takes canonically equivalent texts for the same,
/// and two files may well be named by a composed and a decomposed letter.
struct ExactText: Codable, Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (left: ExactText, right: ExactText) -> Bool {
        // Texts of equal bytes are also equal to `String`, which sees a difference faster.
        left.string.utf8.count == right.string.utf8.count && left.string == right.string
            && left.string.utf8.elementsEqual(right.string.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
