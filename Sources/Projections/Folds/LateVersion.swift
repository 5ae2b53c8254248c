/// A version of a thing that came late: a newer one was known, or the thing was gone for ever (I33).
public struct LateVersion: Codable, Hashable, Sendable {
    /// The version's number among those known at its event, counted from 1, in the order of the remote.
    public var number: Int
    /// How many versions were known at its event, this one included.
    public var count: Int
    /// The thing's fields after the event, if it changed what is known of the thing all the same; `nil` if not.
    public var known: JSONObject?

    /// Makes the place of a version.
    ///
    /// - Parameters:
    ///   - number: 0 if the version is not numbered.
    ///   - count: as `number`.
    init(number: Int = 0, of count: Int = 0, known: JSONObject? = nil) {
        (self.number, self.count, self.known) = (number, count, known)
    }

    /// The number of a version and the count of versions known then.
    typealias Place = (number: Int, count: Int)

    /// Numbers the late ones among versions in order of arrival: for each, its place among the distinct versions that had
    /// arrived with it. Cost: O(n) if none is late, else O(n log n).
    ///
    /// - Parameters:
    ///   - versions: The version that each entry of a history brought; `nil` for an entry that brought none.
    ///   - isLate: Whether the version of the entry at an index is late.
    /// - Returns: The places by the indexes of the late entries.
    static func places<Version: Comparable>(of versions: [Version?], isLate: (Int) -> Bool) -> [Int: Place] {
        guard versions.indices.contains(where: isLate) else { return [:] }
        let sorted = versions.compactMap { $0 }.sorted()
        var arrived = ArrivedVersions(sorted.count)
        var places: [Int: Place] = [:]
        for (index, version) in versions.enumerated() {
            guard let version else { continue }
            let rank = sorted.partitioningIndex { $0 >= version }
            arrived.insert(rank)
            if isLate(index) { places[index] = (arrived.count(through: rank), arrived.count) }
        }
        return places
    }
}

/// The ranks that have arrived, counted in a binary indexed tree: a history of a hundred thousand late versions takes no
/// quadratic time.
private struct ArrivedVersions {
    private var sums: [Int]
    private var isKnown: [Bool]
    private(set) var count = 0

    init(_ capacity: Int) {
        sums = Array(repeating: 0, count: capacity + 1)
        isKnown = Array(repeating: false, count: capacity)
    }

    /// Adds a rank, once.
    mutating func insert(_ rank: Int) {
        guard !isKnown[rank] else { return }
        isKnown[rank] = true
        count += 1
        var place = rank + 1
        while place < sums.count {
            sums[place] += 1
            place += place & -place
        }
    }

    /// How many ranks up to one have arrived, itself included.
    func count(through rank: Int) -> Int {
        var (place, result) = (rank + 1, 0)
        while place > 0 {
            result += sums[place]
            place -= place & -place
        }
        return result
    }
}
