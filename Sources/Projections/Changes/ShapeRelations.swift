/// Where the names of one shape stand in another.
final class ShapeRelation: Sendable {
    fileprivate let shape: RowShape
    fileprivate let other: RowShape
    /// For each name of the one shape its place in the other; -1 for a name that the other lacks.
    let places: [Int]
    /// The places in the one shape of the names that the other lacks, in the order of their UTF-8 bytes.
    let missing: [Int]

    /// Cost: O(names of both).
    fileprivate init(_ shape: RowShape, _ other: RowShape) {
        (self.shape, self.other) = (shape, other)
        let places = shape.places(in: other)
        self.places = places
        missing = shape.sorted.filter { places[$0] < 0 }
    }
}

/// Finds the relations of shapes that were compared before: the changes of a table have a handful of shapes.
///
/// A pure cache of limited size: it saves comparing names, and changes no result.
struct ShapeRelations: Sendable {
    /// A power of two. Relations whose shapes lie in memory alike share a set, so that few push out one another.
    private static let setCount = 128
    private static let setSize = 4

    /// The relation that was asked for last. Who asks for one alone, as to make one row, needs no room for more.
    private var last: ShapeRelation?
    /// Set after set, each with those found often at the front.
    private var known: [ShapeRelation?] = []

    /// Where the names of a shape stand in another. Cost: O(1), or O(names of both) where they were not compared lately.
    mutating func relation(of shape: RowShape, to other: RowShape) -> ShapeRelation {
        if let last, last.shape === shape, last.other === other { return last }
        let relation = last == nil ? ShapeRelation(shape, other) : find(shape, other)
        if shape.isOrdinary, other.isOrdinary { last = relation }
        return relation
    }

    private mutating func find(_ shape: RowShape, _ other: RowShape) -> ShapeRelation {
        if known.isEmpty { known = Array(repeating: nil, count: Self.setCount * Self.setSize) }
        let first = Self.set(of: shape, other) * Self.setSize
        for room in first..<first + Self.setSize {
            guard let found = known[room], found.shape === shape, found.other === other else { continue }
            if room > first { known.swapAt(room, room - 1) }
            return found
        }
        let relation = ShapeRelation(shape, other)
        // Shapes of hostile length are not kept in memory.
        if shape.isOrdinary, other.isOrdinary { known[first + Self.setSize - 1] = relation }
        return relation
    }

    /// Depends on where the shapes lie in memory, and decides nothing but what is pushed out.
    @inline(__always)
    private static func set(of shape: RowShape, _ other: RowShape) -> Int {
        let (first, second) = (UInt(bitPattern: ObjectIdentifier(shape)), UInt(bitPattern: ObjectIdentifier(other)))
        let mixed = (first &* 0x9E37_79B9_7F4A_7C15 ^ second) &* 0xC2B2_AE3D_27D4_EB4F
        return Int(mixed >> UInt(UInt.bitWidth - setCount.trailingZeroBitCount))
    }
}
