import Testing

@testable import EventLog

/// Keys that were made to collide cost no more than others: what is counted is the slots that searches pass over.
@Suite struct HostileKeyTests {
    /// Keys that all had one hash under the fixed numbers of earlier versions: whatever the first word makes of the state,
    /// the second one takes back.
    private static func colliding(_ count: UInt64) -> [[UInt8]] {
        (0..<count).map { first in
            let second = mixed(mixed(16) ^ first)
            return [first, second].flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
        }
    }

    /// The step of that hash.
    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = (value ^ 0xD1B5_4A32_D192_ED03).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low ^ (value >> 32 | value << 32)
    }

    private static func steps(_ hashes: [UInt64]) -> Int {
        var index = KeyIndex()
        for (place, hash) in hashes.enumerated() { index.insert(hash, UInt64(place + 1)) }
        return index.stepCount
    }

    private static func hashes(_ keys: [[UInt8]], _ hash: KeyHash) -> [UInt64] {
        keys.map { key in key.withUnsafeBytes { hash.hash($0, seed: 0) } }
    }

    @Test func keysThatWereMadeToCollideAreFoundAtOnce() {
        let keys = Self.colliding(2000)
        let old = keys.map { key in
            key.withUnsafeBytes { key in
                let words = (0..<2).map { key.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self).littleEndian }
                return Self.mixed(Self.mixed(Self.mixed(Self.mixed(16) ^ words[0]) ^ words[1]) ^ 0)
            }
        }
        #expect(Set(old).count == 1)
        #expect(Self.steps(old) > keys.count * keys.count / 4)
        let hashes = Self.hashes(keys, .random)
        #expect(Set(hashes).count == keys.count)
        #expect(Self.steps(hashes) < 4 * keys.count)
    }

    @Test func keysThatDifferInHighBitsOnlyAreFoundAtOnce() {
        let keys = (0..<20_000).map { number in
            Array("key".utf8) + [UInt8](repeating: 0, count: 10) + [UInt8(number & 0xFF), UInt8(number >> 8)]
        }
        let hashes = Self.hashes(keys, .random)
        #expect(Self.steps(hashes) < 4 * keys.count)
        var filter = KeyFilter(capacity: keys.count)
        for hash in hashes { filter.insert(hash) }
        let others = (0..<20_000).map { Array("other".utf8) + Array(String($0).utf8) }
        #expect(Self.hashes(others, .random).count { filter.mayContain($0) } < 200)
    }

    @Test func eachCacheHashesWithASecretOfItsOwn() {
        let keys = (0..<100).map { Array(String($0).utf8) }
        let (first, second) = (KeyHash.random, KeyHash.random)
        #expect(Set(Self.hashes(keys, first)).isDisjoint(with: Self.hashes(keys, second)))
        #expect(Self.hashes(keys, first) == Self.hashes(keys, KeyHash(secret: first.secret)))
    }

    @Test func aListOfRunsKeepsItsSecret() throws {
        var list = KeyRunList()
        list.secret = KeyHash.random.secret
        let read = list.bytes.withUnsafeBytes { KeyRunList($0) }
        #expect(read?.secret == list.secret)
    }
}
