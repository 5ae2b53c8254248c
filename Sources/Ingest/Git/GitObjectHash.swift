import EventLog

/// git's object ids: SHA-1 (FIPS 180-4) or SHA-256 of the type, the length and the bytes.
///
/// Checks that an API or a repository returned the object that an id names. SHA-1 does not resist an attacker who makes
/// both objects, and this one does not detect such collisions as git's own does.
enum GitObjectHash {
    /// The id of an object, in lower-case hex; SHA-256 if `isLong`, else SHA-1.
    static func id(type: String, _ bytes: [UInt8], isLong: Bool = false) -> String {
        if isLong { return Hasher256.hash(Array("\(type) \(bytes.count)".utf8) + [0] + bytes).description }
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var message = Array("\(type) \(bytes.count)".utf8) + [0] + bytes
        let bitCount = UInt64(message.count) * 8
        // Padding by FIPS 180-4, section 5.1.1: a bit 1, zeros up to 56 bytes modulo 64, and the length in bits as
        // eight bytes, big-endian.
        message.append(0x80)
        message.append(contentsOf: [UInt8](repeating: 0, count: (120 - message.count % 64) % 64))
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            message.append(UInt8(truncatingIfNeeded: bitCount >> shift))
        }
        message.withUnsafeBufferPointer { buffer in
            precondition(buffer.count % 64 == 0, "SHA-1 reads whole blocks of 64 bytes")
            for start in stride(from: 0, to: buffer.count, by: 64) { mix(buffer, at: start, into: &state) }
        }
        return state.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// Mixes the block of 64 bytes at `start` into the state (FIPS 180-4, section 6.1.2).
    private static func mix(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int, into state: inout [UInt32]) {
        // On the stack, because an array for each block costs an allocation. All 80 words are initialised before they
        // are read.
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
            for index in 0..<16 {
                let place = start + index * 4
                let high = UInt32(bytes[place]) << 24 | UInt32(bytes[place + 1]) << 16
                words.initializeElement(at: index, to: high | UInt32(bytes[place + 2]) << 8 | UInt32(bytes[place + 3]))
            }
            for index in 16..<80 {
                let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
                words.initializeElement(at: index, to: word << 1 | word >> 31)
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for index in 0..<80 {
                let (mixed, constant) = round(index, b, c, d)
                let next = (a << 5 | a >> 27) &+ mixed &+ e &+ constant &+ words[index]
                (e, d, c, b, a) = (d, c, b << 30 | b >> 2, a, next)
            }
            for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
        }
    }

    /// The function and the constant of one of the 80 rounds (FIPS 180-4, sections 4.1.1 and 4.2.1).
    private static func round(_ index: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32) -> (UInt32, UInt32) {
        switch index {
        case 0..<20: (b & c | ~b & d, 0x5A82_7999)
        case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
    }
}
