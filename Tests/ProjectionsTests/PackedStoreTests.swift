import EventLog
import JSON
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
            Self.add(place, to: &table) { hashes[$0] }
        }
        for (place, hash) in hashes.enumerated() { #expect(table.find(hash) { $0 == place } == place) }
        #expect(table.find(FastHash.mix(.max, 1)) { _ in false } == nil)
    }

    @Test(arguments: [0, 1, 63, 5000, 60_000])
    func aTableThatIsMadeAtOnceHasEveryPlaceAndGrows(count: Int) {
        let hashes = (0..<count).map { FastHash.mix(UInt64($0) / 3, 9) | UInt64($0 % 2) << 63 }
        var table = PlaceTable(hashes: hashes)
        for (place, hash) in hashes.enumerated() { #expect(table.find(hash) { $0 == place } == place) }
        func hash(_ place: Int) -> UInt64 { place < count ? hashes[place] : FastHash.mix(UInt64(place), 77) }
        for place in count..<2 * count + 5 { Self.add(place, to: &table, hash) }
        for (place, hash) in hashes.enumerated() { #expect(table.find(hash) { $0 == place } == place) }
        #expect(table.find(FastHash.mix(UInt64(count), 77)) { $0 == count } == count)
    }

    /// Places that are far apart leave less room for tags, and none at the end.
    @Test func placesOfAnySizeAreFound() {
        let places = [0, 1, 5, 300, 70_000, 70_001, 1 << 24, 1 << 31, 1 << 32 - 2]
        var table = PlaceTable()
        func hash(_ place: Int) -> UInt64 { FastHash.mix(UInt64(place), 3) }
        for place in places { Self.add(place, to: &table, hash) }
        for place in places { #expect(table.find(hash(place)) { $0 == place } == place) }
        #expect(table.find(hash(2)) { $0 == 2 } == nil)
    }

    private static func add(_ place: Int, to table: inout PlaceTable, _ hash: (Int) -> UInt64) {
        if table.isFull(for: place) { table.grow(for: place, hash) }
        table.add(hash(place), place: place)
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

    /// Texts, and objects that go with them, which are kept as they stand.
    @Test(arguments: [#"{"n":1}"#, #"{"a":"}{","b" : [ ] , "c":null}"#])
    func anObjectGoesWithAText(_ object: String) throws {
        var pool = TextPool()
        let texts = ["", "a", #"\"{"#, String(repeating: "b", count: 300_000)]
        let bytes = Array(object.utf8)
        try bytes.withUnsafeBytes { bytes in
            let runs = MemberRuns(object: bytes)
            for text in texts {
                let place = Array(text.utf8).withUnsafeBytes {
                    pool.add(JSONText(bytes: $0, hasEscapes: text.contains("\\")), runs)
                }
                #expect(pool.string(place) == text.replacing("\\\"", with: "\""))
                #expect(pool.withObject(place) { String(decoding: $0, as: UTF8.self) } == object)
                #expect(pool.withObject(place) { runs.isSame(as: $0) } && pool.holds(place))
                let (position, count) = (place.position, UInt64(place.count))
                let other = try #require(PooledText(position: position, count: count - 1, flags: place.flags))
                #expect(!pool.holds(other), "an object's length where none was written")
            }
        }
        #expect(pool.withObject(.empty) { $0.isEmpty })
        #expect(pool.withObject(.empty) { MemberRuns.none.isSame(as: $0) })
    }

    @Test func membersStandInFiveRunsAtMost() {
        let text = Array(
            #""a":1 , "b":null,"known":0,"c":2,"known":0,"d":3,"known":0,"e":4,"known":0,"f":5,"known":0,"g":6"#.utf8
        )
        text.withUnsafeBytes { bytes in
            var runs = MemberRuns.none
            func add(_ member: String, isNull: Bool = false) -> Bool {
                let name = Array("\"\(member)\":".utf8)
                let start = (0..<bytes.count).first { bytes[$0...].starts(with: name) } ?? 0
                let count = isNull ? 8 : 5
                return runs.add(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]), isNull: isNull)
            }
            #expect(add("b", isNull: true) && runs.isEmpty && runs.byteCount == 0)
            runs = .none
            #expect(add("a") && add("b", isNull: true) && add("c") && add("d") && add("e") && add("f"))
            #expect(!add("g"))
            var object: [UInt8] = []
            runs.appendObject(to: &object)
            #expect(String(decoding: object, as: UTF8.self) == #"{"a":1 , "b":null,"c":2,"d":3,"e":4,"f":5}"#)
            #expect(object.count == runs.byteCount)
            for (other, isSame) in [
                (#"{"f":5,"e":4,"d":3,"c":2,"a":1}"#, true), (#"{"a":1.0,"c":2,"d":3,"e":4,"f":5}"#, false),
                ("{", false),
            ] {
                #expect(Array(other.utf8).withUnsafeBytes { runs.isSame(as: $0) } == isSame, "\(other)")
            }
        }
    }
}
