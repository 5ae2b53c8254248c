/// The columns of one row: the newest record whole, and what it does not tell.
///
/// Most changes state every column, so most rows are one record and nothing else. A column that the newest record lacks, or
/// of which another change tells more, has an entry in `others`.
struct RowColumns: Codable, Sendable {
    typealias Position = RowRegister.Position

    /// The columns that a row of the document lists beside its values, sorted by name.
    struct Marks: Codable, Equatable {
        /// Columns that exist but whose value was never seen.
        var unknown: [String] = []
        /// Columns whose known value may be outdated.
        var stale: [String] = []
    }

    /// The record of the change that comes last in commit order of those that had values.
    private struct Newest: Codable {
        var record: RowRecord
        var position: Position
        /// The columns that the change named.
        var named: RowShape
    }

    /// `nil` if no change since the floor had values.
    private var newest: Newest?
    /// Sorted by name, each name once. Content only of columns that the newest record lacks, and older than it; the other
    /// positions only where they tell more than the newest change does.
    private var others: [Column] = []
    /// The bytes of `others`.
    private var otherByteCount = 0

    init() {}

    /// The bytes of all columns, about. O(1).
    var byteCount: Int { (newest?.record.byteCount ?? 0) + otherByteCount }

    /// The most bytes of a row that each entry of its history shows whole.
    private static let wholeBytesMax = 4_096
    /// A row of so many times the bytes of a change is not shown whole by the entry of the change.
    private static let wholeRatioMax = 16

    /// Whether the row is too large to show all of it for the little that a change states. O(1).
    func isLarge(for change: RowChange) -> Bool {
        byteCount > Self.wholeBytesMax && byteCount > Self.wholeRatioMax * change.record.byteCount
    }

    /// The columns that a change states, with the values that are known before it, if the row is too large to show all of it
    /// for the little that the change states; else `nil`. Many small changes of a large row would otherwise be told by its
    /// size each time. Cost: O(n log m) in the columns of the change and those of the row.
    func replaced(by change: RowChange) -> [RowEffect.ColumnChange]? {
        if !isLarge(for: change) { return nil }
        let shape = change.record.shape
        return shape.sorted.map { place in
            RowEffect.ColumnChange(name: shape.names[place], value: text(of: shape.names[place])?.detached)
        }
    }

    // MARK: - Reading

    /// The last value of a column, as a text; `nil` if none is known.
    func text(of name: String) -> StoredJSON? {
        newest?.record.text(of: name) ?? place(of: name).flatMap { others[$0].content?.value }
    }

    /// The only record that gave values; `nil` if several did, or none.
    var onlyRecord: RowRecord? {
        Self.look(at: others.count)
        return others.contains { $0.content != nil } ? nil : newest?.record
    }

    /// The columns that have a value, in the order of their names' UTF-8 bytes.
    var values: [(name: String, value: StoredJSON)] {
        guard let record = onlyRecord else {
            return all.compactMap { column in column.content.map { (column.name, $0.value) } }
        }
        return record.values
    }

    /// Writes the columns that have a value as an object.
    func write(to text: inout CanonicalText) {
        Self.look(at: others.count)
        let rest = others.compactMap { column in column.content.map { (name: column.name, value: $0.value) } }
        (newest?.record ?? RowRecord()).write(to: &text, besides: rest)
    }

    /// Whether `deleted_at` is set.
    var isSoftDeleted: Bool {
        if newest?.record.shape.deletedAt != nil { return newest?.record.isSoftDeleted ?? false }
        return place(of: "deleted_at").flatMap { others[$0].content.map { !$0.value.isNull } } ?? false
    }

    /// Whether no column has a mark, if that is seen at once; false may mean that many would have to be looked at.
    private var hasNoMarks: Bool {
        if others.count > Self.movedCountMax { return false }
        Self.look(at: others.count)
        return others.indices.allSatisfy { others[$0].content != nil && others[$0].lacked == nil }
    }

    /// What the row lists of the columns that a change states or names: it can change no other marks.
    func marks(of change: RowChange) -> Marks {
        if hasNoMarks { return Marks() }
        var marks = Marks()
        for shape in [change.record.shape, change.columns] {
            var walk = NameWalk()
            for index in shape.sorted {
                guard let place = walk.place(of: shape.names[index], in: others) else { continue }
                let column = others[place].stated(by: newest?.record, at: newest?.position)
                if column.isUnknown { marks.unknown.append(column.name) }
                if column.isStale { marks.stale.append(column.name) }
            }
        }
        return marks
    }

    /// What the row lists beside its values.
    var marks: Marks {
        // Every column with a mark has an entry in `others`: what the newest change named and stated is known.
        if hasNoMarks { return Marks() }
        Self.look(at: others.count)
        let columns = others.map { $0.stated(by: newest?.record, at: newest?.position) }
        return Marks(
            unknown: columns.filter(\.isUnknown).map(\.name),
            stale: columns.filter(\.isStale).map(\.name)
        )
    }

    /// All columns, in the order of their names' UTF-8 bytes. Cost: O(columns).
    var all: [Column] {
        Self.look(at: others.count)
        guard let newest else { return others }
        var all: [Column] = []
        var rest = others[...]
        let shape = newest.record.shape
        for place in shape.sorted {
            let name = shape.names[place]
            while let next = rest.first, ExactText.precedes(next.name, name) { all.append(rest.removeFirst()) }
            var column = Column(name: name)
            if let next = rest.first, ExactText.areSame(next.name, name) { column = rest.removeFirst() }
            column.content = Column.Content(value: newest.record[place], position: newest.position)
            if column.named == nil, newest.named.place(of: name) != nil { column.named = newest.position }
            all.append(column)
        }
        return all + rest
    }

    // MARK: - Changing

    /// Takes over the values, and notes the names, for which nothing newer is known; false if there is none.
    ///
    /// Cost: O(n) in the columns of the change for one whose shape was compared with that of the newest lately, else O(n log m) in
    /// those of both changes, for a row of m columns; entries that come or go also move those behind them.
    ///
    /// - Parameters:
    ///   - changed: gets the columns whose values differ afterwards, unless it is `nil`.
    ///   - relations: finds where the names of one change stand in another.
    mutating func set(
        _ change: RowChange,
        at position: Position,
        noting changed: inout ChangedColumns?,
        _ relations: inout ShapeRelations
    ) -> Bool {
        if change.record.isEmpty { return setNames(of: change, at: position, &relations) }
        if let latest = newest?.position, latest > position {
            let hasValues = setLateValues(of: change.record, at: position, noting: &changed)
            return setNames(of: change, at: position, &relations) || hasValues
        }
        let isLikeBefore =
            others.isEmpty && newest?.record.shape === change.record.shape && newest?.named === change.columns
        if changed != nil { changed = differences(from: change.record, &relations) }
        if !isLikeBefore { makeRoom(for: change, at: position, &relations) }
        newest = Newest(record: change.record, position: position, named: change.columns)
        // A change that names what the record before it stated leaves nothing to note.
        if !isLikeBefore { _ = setNames(of: change, at: position, &relations) }
        return true
    }

    /// Forgets what changes up to a position stated.
    mutating func forget(upTo position: Position) {
        if let newest, newest.position <= position { self.newest = nil }
        if others.isEmpty { return }
        Self.look(at: others.count)
        for place in others.indices { others[place].forget(upTo: position) }
        others.removeAll(where: \.isEmpty)
        otherByteCount = others.reduce(0) { $0 + $1.byteCount }
    }

    /// The columns of a newer record whose values differ from the known ones.
    private func differences(from record: RowRecord, _ relations: inout ShapeRelations) -> ChangedColumns {
        let shape = record.shape
        var walk = NameWalk()
        let known = newest?.record ?? RowRecord()
        func isOtherwiseKnown(_ place: Int) -> Bool {
            guard let other = walk.place(of: shape.names[place], in: others) else { return false }
            return others[other].content?.value.isSame(as: record[place]) ?? false
        }
        let inKnown = shape === known.shape ? nil : relations.relation(of: shape, to: known.shape)
        if shape.names.count <= UInt64.bitWidth {
            var places: UInt64 = 0
            record.forEachDifference(from: known, inKnown) { place, isKnown in
                if isKnown || !isOtherwiseKnown(place) { places |= 1 << UInt64(place) }
            }
            return .stated(StatedColumns(record: record, places: places))
        }
        var listed: [RowEffect.ColumnChange] = []
        record.forEachDifference(from: known, inKnown) { place, isKnown in
            if !isKnown, isOtherwiseKnown(place) { return }
            listed.append(RowEffect.ColumnChange(name: shape.names[place], value: record[place]))
        }
        return .listed(listed)
    }

    /// Brings `others` to what a newer change will not tell, before that becomes the newest. Looks only at the columns of the
    /// two changes: a row may have had thousands of others.
    private mutating func makeRoom(
        for change: RowChange,
        at position: Position,
        _ relations: inout ShapeRelations
    ) {
        let stated = places(statedBy: change.record.shape)
        for place in stated {
            setContent(nil, at: place)
            if let named = others[place].named, named < position, change.columns.place(of: others[place].name) != nil {
                others[place].named = nil
            }
        }
        if stated.count <= Self.movedCountMax {
            for place in stated.reversed() where others[place].isEmpty {
                otherByteCount -= others.remove(at: place).byteCount
            }
        } else {
            Self.look(at: others.count)
            others.removeAll(where: \.isEmpty)
            otherByteCount = others.reduce(0) { $0 + $1.byteCount }
        }
        if let newest { keep(newest, besides: change, &relations) }
    }

    /// The places in `others` of the names in a shape, in ascending order. Cost: O(n log m) for the n fewer of both in the m
    /// more.
    private func places(statedBy shape: RowShape) -> [Int] {
        if others.isEmpty { return [] }
        if others.count < shape.names.count {
            Self.look(at: others.count)
            return others.indices.filter { shape.place(of: others[$0].name) != nil }
        }
        var walk = NameWalk()
        return shape.sorted.compactMap { walk.place(of: shape.names[$0], in: others) }
    }

    /// Moves what the newest change tells and a newer one does not into `others`: a column that the newer change does not state,
    /// or states and does not name; of such a one the older change is still the last that named it.
    private mutating func keep(_ newest: Newest, besides change: RowChange, _ relations: inout ShapeRelations) {
        let known = newest.record.shape
        let inStated = relations.relation(of: known, to: change.record.shape)
        let inNamed = relations.relation(of: known, to: newest.named)
        let inNewlyNamed = relations.relation(of: known, to: change.columns)
        let left =
            inNewlyNamed.missing.isEmpty
            ? inStated.missing
            : known.sorted.filter {
                inStated.places[$0] < 0 || inNewlyNamed.places[$0] < 0 && inNamed.places[$0] >= 0
            }
        if left.count > Self.movedCountMax { add(left.map { known.names[$0] }) }
        for place in left {
            let other = entry(of: known.names[place])
            if inStated.places[place] < 0 {
                // Its own text: a single column would keep the values of a whole record in memory.
                let value = newest.record[place].detached
                setContent(Column.Content(value: value, position: newest.position), at: other)
            }
            if inNamed.places[place] >= 0 { _ = Self.raise(&others[other].named, to: newest.position) }
        }
    }

    /// Takes over those values of a record for which nothing newer is known; false if there is none.
    private mutating func setLateValues(
        of record: RowRecord,
        at position: Position,
        noting changed: inout ChangedColumns?
    ) -> Bool {
        let shape = record.shape
        let unstated = shape.sorted.filter { newest?.record.shape.place(of: shape.names[$0]) == nil }
        add(unstated.map { shape.names[$0] })
        var (isEffective, listed) = (false, [RowEffect.ColumnChange]())
        var walk = NameWalk()
        for index in unstated {
            guard let place = walk.place(of: shape.names[index], in: others) else { continue }
            let known = others[place].content
            if let known, known.position > position { continue }
            let value = record[index].detached
            if changed != nil, !(known?.value.isSame(as: value) ?? false) {
                listed.append(RowEffect.ColumnChange(name: shape.names[index], value: value))
            }
            setContent(Column.Content(value: value, position: position), at: place)
            isEffective = true
        }
        if changed != nil { changed = .listed(listed) }
        return isEffective
    }

    /// Notes which columns a change named, and which values it was too large to contain; false if nothing is news.
    private mutating func setNames(
        of change: RowChange,
        at position: Position,
        _ relations: inout ShapeRelations
    ) -> Bool {
        let isNamed = raise(unnamed(of: change, at: position, &relations)) { Self.raise(&$0.named, to: position) }
        return raise(lacked(by: change)) { Self.raise(&$0.lacked, to: position) } || isNamed
    }

    /// The names of a change, sorted, without those that the newest change named and stated, at the same position or a later
    /// one: naming these is no news.
    private func unnamed(
        of change: RowChange,
        at position: Position,
        _ relations: inout ShapeRelations
    ) -> [String] {
        let shape = change.columns
        guard let latest = newest?.position, latest >= position, let stated = newest?.record.shape,
            let named = newest?.named
        else { return shape.sorted.map { shape.names[$0] } }
        let inStated = relations.relation(of: shape, to: stated)
        if named === shape { return inStated.missing.isEmpty ? [] : inStated.missing.map { shape.names[$0] } }
        let inNamed = relations.relation(of: shape, to: named)
        return shape.sorted.filter { inStated.places[$0] < 0 || inNamed.places[$0] < 0 }.map { shape.names[$0] }
    }

    /// The names, sorted, whose values a change was too large to contain.
    private func lacked(by change: RowChange) -> [String] {
        guard change.isPartial else { return [] }
        let shape = change.columns
        return shape.sorted.map { shape.names[$0] }.filter { change.record.shape.place(of: $0) == nil }
    }

    /// Moves a position of the columns with some names, sorted, forward by `raise`; false if each is further already.
    private mutating func raise(_ names: [String], _ raise: (inout Column) -> Bool) -> Bool {
        if names.isEmpty { return false }
        add(names)
        var isRaised = false
        var walk = NameWalk()
        for name in names {
            guard let place = walk.place(of: name, in: others) else { continue }
            isRaised = raise(&others[place]) || isRaised
        }
        return isRaised
    }

    /// Moves a position forward; false if it is further already.
    private static func raise(_ known: inout Position?, to position: Position) -> Bool {
        if let known, known > position { return false }
        known = position
        return true
    }

    // MARK: - Entries

    /// The most entries that are inserted or removed one by one; each moves the entries behind it, which is faster than
    /// looking at all of them only for a few.
    private static let movedCountMax = 8

    /// Adds entries for those of some names, sorted, that have none. Cost: O(names), and O(entries) if one is new.
    private mutating func add(_ names: [String]) {
        if names.isEmpty { return }
        var walk = NameWalk()
        let missing = names.filter { walk.place(of: $0, in: others) == nil }
        if missing.count <= Self.movedCountMax {
            for name in missing { insert(Column(name: name), at: insertionPlace(of: name)) }
        } else {
            Self.look(at: others.count)
            others += missing.map { Column(name: $0) }
            otherByteCount += others.suffix(missing.count).reduce(0) { $0 + $1.byteCount }
            others.sort { ExactText.precedes($0.name, $1.name) }
        }
    }

    /// The place in `others` of the entry with a name, which is added if it is missing.
    private mutating func entry(of name: String) -> Int {
        let place = insertionPlace(of: name)
        if place == others.count || !ExactText.areSame(others[place].name, name) {
            insert(Column(name: name), at: place)
        }
        return place
    }

    private mutating func insert(_ column: Column, at place: Int) {
        otherByteCount += column.byteCount
        others.insert(column, at: place)
    }

    private mutating func setContent(_ content: Column.Content?, at place: Int) {
        otherByteCount += (content?.value.byteCount ?? 0) - (others[place].content?.value.byteCount ?? 0)
        others[place].content = content
    }

    private func insertionPlace(of name: String) -> Int {
        others.partitioningIndex { column in
            Self.look(at: 1)
            return !ExactText.precedes(column.name, name)
        }
    }

    private func place(of name: String) -> Int? {
        let place = insertionPlace(of: name)
        return place < others.count && ExactText.areSame(others[place].name, name) ? place : nil
    }
}
