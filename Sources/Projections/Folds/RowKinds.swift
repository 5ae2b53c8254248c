/// What happened to a row: that it came or went, or the kinds of a change in between.
struct RowKinds: OptionSet, Codable, Sendable {
    let rawValue: UInt8

    static let added = RowKinds(rawValue: 1)
    static let removed = RowKinds(rawValue: 2)
    static let softDeleted = RowKinds(rawValue: 4)
    static let restored = RowKinds(rawValue: 8)
    static let opened = RowKinds(rawValue: 16)
    static let retitled = RowKinds(rawValue: 32)
    static let updated = RowKinds(rawValue: 64)

    /// The names of the kinds, in the order in which a history lists them.
    private static let named: [(RowKinds, String)] = [
        (.softDeleted, "soft_deleted"), (.restored, "restored"), (.opened, "opened"), (.retitled, "retitled"),
        (.updated, "updated"),
    ]

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The kinds of a change that altered the row.
    init(_ effect: RowEffect) {
        if !effect.wasPresent {
            self = .added
        } else if !effect.isPresent {
            self = .removed
        } else {
            self = Self.kinds(of: effect)
        }
    }

    private static func kinds(of effect: RowEffect) -> RowKinds {
        var kinds: RowKinds = []
        if effect.wasSoftDeleted != effect.isSoftDeleted { kinds = effect.isSoftDeleted ? .softDeleted : .restored }
        let changed = effect.changed.meanings
        // An opening writes no other column; `updated_at` beside it makes it an update.
        if changed == .lastOpenedAt { return .opened }
        if changed.contains(.title) { kinds.insert(.retitled) }
        return changed.contains(.others) || kinds.isEmpty ? kinds.union(.updated) : kinds
    }

    /// The word for the change in a history.
    var change: String { contains(.added) ? "added" : contains(.removed) ? "removed" : "changed" }

    /// The finer words.
    var names: [String] { Self.named.filter { contains($0.0) }.map(\.1) }
}
