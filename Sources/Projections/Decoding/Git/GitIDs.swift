/// The ids of git's objects, each once. Its place, which counts from 0 in order of arrival, is a handle for it.
///
/// An id of 40 lower-case hex digits takes 20 bytes and its bucket. Any other text, as no git with SHA-1 writes it, stays
/// a `String`.
struct GitIDs: Sendable {
    /// 160 bits. Words of 32 bits leave no padding between two hashes.
    fileprivate struct Hash: BitwiseCopyable, Equatable {
        var words: (UInt32, UInt32, UInt32, UInt32, UInt32)

        static func == (left: Hash, right: Hash) -> Bool { left.words == right.words }
    }

    /// By place; zeros for the id that is a text.
    private var hashes = Pages<Hash>()
    private var table = PlaceTable()
    /// The ids that are no hashes, by place, and their places.
    private var texts: [UInt32: String] = [:]
    private var textPlaces: [String: UInt32] = [:]

    init() {}

    var count: Int { hashes.count }

    /// The place of an id; `nil` if it was never added.
    func find(_ text: String) -> UInt32? {
        guard let hash = Hash(text) else { return textPlaces[text] }
        return find(hash, at: tableHash(hash))
    }

    /// The place of an id, added if it is new.
    mutating func add(_ text: String) -> UInt32 {
        let place = UInt32(truncatingIfNeeded: count)
        guard let hash = Hash(text) else {
            if let known = textPlaces[text] { return known }
            hashes.append(Hash(words: (0, 0, 0, 0, 0)))
            texts[place] = text
            textPlaces[text] = place
            return place
        }
        let bucket = tableHash(hash)
        if let known = find(hash, at: bucket) { return known }
        hashes.append(hash)
        table.add(bucket, place: Int(place))
        return place
    }

    /// The id at a place.
    func text(_ place: UInt32) -> String {
        texts.isEmpty ? hashes[Int(place)].text : texts[place] ?? hashes[Int(place)].text
    }

    private func find(_ hash: Hash, at bucket: UInt64) -> UInt32? {
        // The table contains no text, so no place of one is compared.
        table.find(bucket) { hashes[$0] == hash }.map { UInt32(truncatingIfNeeded: $0) }
    }

    private func tableHash(_ hash: Hash) -> UInt64 {
        let words = hash.words
        let first = table.hash(Self.pair(words.0, words.1), Self.pair(words.2, words.3))
        return table.hash(first, UInt64(words.4))
    }

    private static func pair(_ high: UInt32, _ low: UInt32) -> UInt64 { UInt64(high) << 32 | UInt64(low) }
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
        hashes = try members.decode(Pages<Hash>.self, forKey: .hashes)
        textPlaces = try members.decode([String: UInt32].self, forKey: .texts)
        for (text, place) in textPlaces { texts[place] = text }
        for place in 0..<count where texts[UInt32(truncatingIfNeeded: place)] == nil {
            table.add(tableHash(hashes[place]), place: place)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(hashes, forKey: .hashes)
        try members.encode(textPlaces, forKey: .texts)
    }
}
