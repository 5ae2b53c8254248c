/// The ids of git's objects, each once. Its place, which counts from 0 in order of arrival, is a handle for it.
///
/// An id of 40 lower-case hex digits takes 20 bytes and its bucket. Any other text, as no git with SHA-1 writes it, stays
/// a `String`.
struct GitIDs: Sendable {
    /// 160 bits. Words of 32 bits leave no padding between two hashes.
    fileprivate struct Hash: PlacedKey {
        var words: (UInt32, UInt32, UInt32, UInt32, UInt32)

        static func == (left: Hash, right: Hash) -> Bool { left.words == right.words }

        func hash(_ key: TableKey) -> UInt64 {
            let first = key.hash(Self.pair(words.0, words.1), Self.pair(words.2, words.3))
            return key.hash(first, UInt64(words.4))
        }

        private static func pair(_ high: UInt32, _ low: UInt32) -> UInt64 { UInt64(high) << 32 | UInt64(low) }
    }

    /// By place; hidden zeros for an id that is a text.
    private var hashes = PlacedKeys<Hash>()
    /// The ids that are no hashes, by place, and their places.
    private var texts: [UInt32: String] = [:]
    private var textPlaces: [String: UInt32] = [:]

    init() {}

    var count: Int { hashes.count }

    /// The place of an id; `nil` if it was never added.
    func find(_ text: String) -> UInt32? {
        guard let hash = Hash(text) else { return textPlaces[text] }
        return hashes.find(hash)
    }

    /// The place of an id, added if it is new.
    mutating func add(_ text: String) -> UInt32 {
        if let hash = Hash(text) { return hashes.place(of: hash) }
        if let known = textPlaces[text] { return known }
        let place = hashes.addHidden(Hash(words: (0, 0, 0, 0, 0)))
        texts[place] = text
        textPlaces[text] = place
        return place
    }

    /// The id at a place.
    func text(_ place: UInt32) -> String {
        texts.isEmpty ? hashes[place].text : texts[place] ?? hashes[place].text
    }
}

extension GitIDs.Hash {
    /// The digits of a hash: two for each byte.
    private static let digitCount = 40

    /// `nil` if the text is not 40 lower-case hex digits.
    fileprivate init?(_ text: String) {
        guard text.utf8.count == Self.digitCount else { return nil }
        var text = text
        let words = text.withUTF8 { digits -> (UInt32, UInt32, UInt32, UInt32, UInt32)? in
            guard let first = Self.word(digits, 0), let second = Self.word(digits, 8),
                let third = Self.word(digits, 16), let fourth = Self.word(digits, 24),
                let fifth = Self.word(digits, 32)
            else { return nil }
            return (first, second, third, fourth, fifth)
        }
        guard let words else { return nil }
        self.words = words
    }

    /// Reads eight digits.
    private static func word(_ digits: UnsafeBufferPointer<UInt8>, _ start: Int) -> UInt32? {
        var word: UInt32 = 0
        for digit in digits[start..<start + 8] {
            switch digit {
            case 0x30...0x39: word = word << 4 | UInt32(digit - 0x30)
            case 0x61...0x66: word = word << 4 | UInt32(digit - 0x57)
            default: return nil
            }
        }
        return word
    }

    fileprivate var text: String {
        String(unsafeUninitializedCapacity: Self.digitCount) { digits in
            var index = 0
            for word in [words.0, words.1, words.2, words.3, words.4] {
                for shift in stride(from: UInt32(28), through: 0, by: -4) {
                    let digit = UInt8(truncatingIfNeeded: word >> shift & 0xF)
                    digits[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
                    index += 1
                }
            }
            return index
        }
    }
}

/// Saved without the table, which loading builds.
extension GitIDs: Codable {
    private enum CodingKeys: CodingKey { case hashes, texts }

    init(from decoder: any Decoder) throws {
        self.init()
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let hashes = try members.decode(Pages<Hash>.self, forKey: .hashes)
        textPlaces = try members.decode([String: UInt32].self, forKey: .texts)
        for (text, place) in textPlaces { texts[place] = text }
        self.hashes = PlacedKeys(hashes) { texts[UInt32(truncatingIfNeeded: $0)] != nil }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(hashes.keys, forKey: .hashes)
        try members.encode(textPlaces, forKey: .texts)
    }
}
