import EventLog
import Testing

@testable import Projections

/// What the packed forms of messages are made of.
@Suite struct PackedStoreTests {
    @Test func aCellIsNoLargerThanALineOfTheCache() {
        #expect(MemoryLayout<MessageCell>.stride == 64)
        #expect(MemoryLayout<PackedEntry>.stride == 56)
        #expect(MemoryLayout<PooledText>.size == 8)
    }

    @Test func formAndStandingDoNotTouchTheEntry() {
        var cell = MessageCell(id: .none, channel: 7, form: .packed)
        let happening = PackedHappening(
            .linked,
            at: PackedHappening.sequenceMax,
            hasVersion: true,
            isNewRevision: true,
            counts: true
        )
        #expect(cell.first == nil)
        let hasRoom = cell.put(happening, recordedAt: -5, .none)
        #expect(hasRoom)
        for standing in [MessageCell.Standing.deleted, .live, .nowhere] {
            cell.standing = standing
            cell.form = .record
            #expect(cell.standing == standing)
            #expect(cell.form == .record)
            cell.form = .packed
            #expect(cell.form == .packed)
            #expect(cell.first?.happening.bits == happening.bits)
            #expect(cell.first?.recordedAt == -5)
        }
    }

    @Test func anEditedVersionHasNoRoomInACell() {
        var cell = MessageCell(id: .none, channel: 0, form: .packed, standing: .live)
        var version = PackedVersion.none
        version.editedAt = PackedTime(seconds: 1, nanoseconds: 0)
        let happening = PackedHappening(.created, at: 1, hasVersion: true)
        let hasRoom = cell.put(happening, recordedAt: 0, version)
        #expect(!hasRoom)
        #expect(cell.first == nil)
    }

    @Test(arguments: [1, 63, 64, 5000, 60_000])
    func everyPlaceOfATableIsFound(count: Int) {
        var table = PlaceTable()
        // Few upper halves, so that many places crowd together, at the end of the table, too.
        let hashes = (0..<count).map { FastHash.mix(UInt64($0) / 3, 9) | UInt64($0 % 2) << 63 }
        for (place, hash) in hashes.enumerated() {
            #expect(table.find(hash) { $0 == place } == nil)
            table.add(hash, place: place)
        }
        for (place, hash) in hashes.enumerated() { #expect(table.find(hash) { $0 == place } == place) }
        #expect(table.find(FastHash.mix(.max, 1)) { _ in false } == nil)
    }

    @Test(arguments: [0, 1, 63, 5000, 60_000])
    func aTableThatIsMadeAtOnceHasEveryPlaceAndGrows(count: Int) {
        let hashes = (0..<count).map { FastHash.mix(UInt64($0) / 3, 9) | UInt64($0 % 2) << 63 }
        var table = PlaceTable(hashes: hashes)
        for (place, hash) in hashes.enumerated() { #expect(table.find(hash) { $0 == place } == place) }
        for place in count..<2 * count + 5 { table.add(FastHash.mix(UInt64(place), 77), place: place) }
        for (place, hash) in hashes.enumerated() { #expect(table.find(hash) { $0 == place } == place) }
        #expect(table.find(FastHash.mix(UInt64(count), 77)) { $0 == count } == count)
    }

    @Test func longTextsOfAPoolStayApart() throws {
        var pool = TextPool()
        let long = [300_000, 262_144].map { String(repeating: "b", count: $0) }
        let texts = ["", "a", long[0], "c\\n", long[1], "e"]
        let places = texts.map { text in
            Array(text.utf8).withUnsafeBytes { pool.add(JSONText(bytes: $0, hasEscapes: text.contains("\\"))) }
        }
        for (text, place) in zip(texts, places) {
            #expect(pool.string(place) == text.replacing("\\n", with: "\n"))
            #expect(pool.holds(place))
        }
        #expect(!TextPool().holds(places[1]))
    }
}
