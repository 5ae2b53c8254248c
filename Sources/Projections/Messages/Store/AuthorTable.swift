import JSON

/// The authors of packed messages: pairs of an id and the name that a message gave, as escaped there. `place` adds each
/// pair once.
///
/// Places never change. One name in two spellings (`é` and `\u00e9`) has two places; `isSame` compares what they mean.
struct AuthorTable: Sendable {
    /// `name` is empty both for an empty name and for none; `hasName` tells them apart, as the state document does.
    fileprivate struct Author: BitwiseCopyable {
        let id: UInt64
        let name: PooledText
        let hasName: Bool
    }

    fileprivate var authors: [Author] = []
    private var table = PlaceTable()
    /// The names, apart from the texts of messages, as a saving writes each name beside its id.
    private var names = TextPool()

    init() {}

    /// The place of an author, added if new. `name` is `nil` if the message gave none.
    @inline(__always)
    mutating func place(id: UInt64, name: JSONText?) -> UInt32 {
        if let known = knownPlace(id: id, name: name) { return known }
        return UInt32(truncatingIfNeeded: add(id, name, hash(id, name)))
    }

    /// The place of a known author; `nil` if it is not known. Compares the name's bytes without unescaping them.
    @inline(__always)
    func knownPlace(id: UInt64, name: JSONText?) -> UInt32? {
        let known = table.find(hash(id, name)) { place in
            let author = authors[place]
            guard author.id == id, author.hasName == (name != nil) else { return false }
            guard let name else { return true }
            return names.withText(author.name) { $0.hasEscapes == name.hasEscapes && $0.bytes.isSame(name.bytes) }
        }
        return known.map { UInt32(truncatingIfNeeded: $0) }
    }

    @inline(never)
    private mutating func add(_ id: UInt64, _ name: JSONText?, _ hash: UInt64) -> Int {
        let place = authors.count
        if table.isFull(for: place) {
            let known = self
            table.grow(for: place) { known.hash(ofPlace: $0) }
        }
        table.add(hash, place: place)
        authors.append(Author(id: id, name: name.map { names.add($0) } ?? .empty, hasName: name != nil))
        return place
    }

    private func hash(ofPlace place: Int) -> UInt64 {
        withName(UInt32(truncatingIfNeeded: place)) { hash(authors[place].id, $0) }
    }

    /// Covers all of the name (I26). Without a name, `.max` stands for its absence.
    @inline(__always)
    private func hash(_ id: UInt64, _ name: JSONText?) -> UInt64 {
        name.map { table.hash(id, $0.bytes) } ?? table.hash(id, .max)
    }

    /// See `PlaceTable.stepCount`.
    var stepCount: Int { table.stepCount { hash(ofPlace: $0) } }

    func id(_ place: UInt32) -> UInt64 { authors[Int(place)].id }

    func name(_ place: UInt32) -> String? {
        let author = authors[Int(place)]
        return author.hasName ? names.string(author.name) : nil
    }

    /// Lends the name to a closure; `nil` if the author has none. The name is valid only during the call.
    func withName<Result>(_ place: UInt32, _ body: (JSONText?) throws -> Result) rethrows -> Result {
        let author = authors[Int(place)]
        return try author.hasName ? names.withText(author.name) { try body($0) } : body(nil)
    }

    /// Whether the author at a place has this id and name, however the name is escaped.
    func isSame(_ place: UInt32, id: UInt64, name: JSONText?) -> Bool {
        let author = authors[Int(place)]
        guard author.id == id, author.hasName == (name != nil) else { return false }
        return name.map { names.isSame(author.name, $0) } ?? true
    }
}

extension AuthorTable {
    var count: Int { authors.count }

    /// Writes the authors from a place on, for `add(from:)`.
    func write(from place: Int, to encoder: StateEncoder) {
        for author in authors[place...] {
            encoder.writeNumber(author.id)
            encoder.writeTruth(author.hasName)
            guard author.hasName else { continue }
            names.withText(author.name) { name in
                encoder.writeTruth(name.hasEscapes)
                encoder.writeBlock(Array(name.bytes))
            }
        }
    }

    /// Adds the authors that `write` wrote, up to the end of the bytes. Adds them in their order, even equal ones,
    /// because packed versions refer to them by place.
    ///
    /// - Throws: `DecodingError` if the bytes end early or a name is malformed.
    mutating func add(from decoder: StateDecoder) throws {
        while !decoder.isAtEnd {
            let id = try decoder.readNumber(UInt64.self)
            guard try decoder.readTruth() else {
                _ = add(id, nil, hash(id, nil))
                continue
            }
            let hasEscapes = try decoder.readTruth()
            try decoder.readBlock().withUnsafeBytes { bytes in
                let name = JSONText(bytes: bytes, hasEscapes: hasEscapes)
                guard bytes.count <= TextPool.countMax, !hasEscapes || name.hasWholeEscapes else {
                    throw decoder.fault("an author's name is malformed")
                }
                _ = add(id, name, hash(id, name))
            }
        }
    }
}
