/// Finds secret members in MessagePack and in Erlang's external term format: a text with its length, the name of a
/// secret, and behind it another text with its length.
///
/// The forms are those of MessagePack's `str` and `bin`, and of `BINARY_EXT`, `STRING_EXT` and the atoms. Nothing else of
/// either format is read, so a damaged payload is searched like a whole one.
struct BinarySecrets {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let rules: SecretRules

    /// The longest name that is judged, in bytes.
    private static let nameBytesMax = 64

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ rules: SecretRules) {
        (self.bytes, self.rules) = (bytes, rules)
    }

    /// The secrets. Cost: linear, since a name has a greatest length.
    func places() -> [SecretRange] {
        var found: [SecretRange] = []
        for index in bytes.indices {
            guard let name = text(at: index), (1...Self.nameBytesMax).contains(name.count), isName(name) else {
                continue
            }
            let judged = rules.judge(normal: SecretName.normalized(bytes[name]), tokenIsSecret: rules.hasCommon)
            guard judged != .plain, let value = text(at: name.upperBound) else { continue }
            if judged == .secret || SecretName.looksLikeWebToken(bytes[value]) {
                found.append(SecretRange(range: value))
            }
        }
        return found
    }

    private func isName(_ range: Range<Int>) -> Bool {
        bytes[range].allSatisfy { SecretText.isNameByte($0) || $0 == 0x2E || $0 == 0x20 }
    }

    /// The text whose tag is at an index; `nil` if there is no such tag. The two formats share no tag.
    private func text(at index: Int) -> Range<Int>? {
        guard index < bytes.count else { return nil }
        let lengthBytes: Int
        switch bytes[index] {
        // MessagePack's fixstr has its length in the tag.
        case 0xA0...0xBF: return text(from: index + 1, count: Int(bytes[index] & 0x1F))
        // str 8, bin 8; SMALL_ATOM_UTF8_EXT, SMALL_ATOM_EXT.
        case 0xD9, 0xC4, 0x77, 0x73: lengthBytes = 1
        // str 16, bin 16; STRING_EXT, ATOM_UTF8_EXT, ATOM_EXT.
        case 0xDA, 0xC5, 0x6B, 0x76, 0x64: lengthBytes = 2
        // str 32, bin 32; BINARY_EXT.
        case 0xDB, 0xC6, 0x6D: lengthBytes = 4
        default: return nil
        }
        guard bytes.count - index > lengthBytes else { return nil }
        let count = bytes[index + 1...index + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
        return text(from: index + 1 + lengthBytes, count: count)
    }

    /// A text of the given length, cut at the end of the bytes.
    private func text(from start: Int, count: Int) -> Range<Int>? {
        start <= bytes.count ? start..<start + min(count, bytes.count - start) : nil
    }
}
