/// The members of an object, in order. Each name occurs once: a repeated name keeps its first place and its last value.
///
/// Names are equal if all bytes are. Looking up a name takes O(1) with many members; with few, comparing each is
/// faster. Removing a member takes O(members).
public struct JSONObject: Codable, Sendable {
    /// One member.
    public struct Member: Codable, Hashable, Sendable {
        /// The name.
        public let name: String
        /// The value.
        public var value: JSONValue

        package init(name: String, value: JSONValue) {
            (self.name, self.value) = (name, value)
        }
    }

    /// The fewest members for which looking up a name in an index is faster.
    private static let indexedCountMin = 17

    /// The members in order.
    public private(set) var members: [Member] = []
    /// The place of each name in `members`; `nil` below `indexedCountMin` members. Derived, so equality and hashes
    /// leave it out.
    private var places: [ExactText: Int]?

    /// Makes an empty object.
    public init() {}

    /// Makes an object of members in order; names may be repeated.
    package init(members: [Member]) {
        if members.count < Self.indexedCountMin, !Self.hasRepeatedName(members) {
            self.members = members
        } else {
            for member in members { self[member.name] = member.value }
        }
    }

    /// Makes an object of members whose names are known to differ, which is not checked. Equal names would make an
    /// object that prints a name twice.
    package init(distinct members: [Member]) {
        Steps.count(members.count)
        self.members = members
        if members.count >= Self.indexedCountMin { buildIndex() }
    }

    /// The value of a member. Setting `nil` removes the member; setting a new name adds one at the end.
    public subscript(name: String) -> JSONValue? {
        get { place(of: name).map { members[$0].value } }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): remove(at: place)
            case (nil, let value?): append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// True if both are unchanged copies of one object; false proves nothing. The addresses are only compared, never
    /// read.
    package func hasSameStorage(as other: JSONObject) -> Bool {
        members.withUnsafeBufferPointer { own in
            other.members.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
        }
    }

    private func place(of name: String) -> Int? {
        if let places { return places[ExactText(name)] }
        var name = name
        return name.withUTF8 { wanted in members.firstIndex { $0.name.hasBytes(wanted) } }
    }

    private mutating func append(_ member: Member) {
        places?[ExactText(member.name)] = members.count
        members.append(member)
        if places == nil && members.count >= Self.indexedCountMin { buildIndex() }
    }

    private mutating func remove(at place: Int) {
        members.remove(at: place)
        places = nil
        if members.count >= Self.indexedCountMin { buildIndex() }
    }

    private mutating func buildIndex() {
        var places: [ExactText: Int] = [:]
        // Twice the room that is needed: the table then grows less often while members are added.
        places.reserveCapacity(2 * members.count)
        for (place, member) in members.enumerated() { places[ExactText(member.name)] = place }
        self.places = places
    }

    /// O(n²): only for fewer than `indexedCountMin` members, and in assertions.
    private static func hasRepeatedName(_ members: [Member]) -> Bool {
        members.indices.contains { index in
            members[..<index].contains { ExactText($0.name) == ExactText(members[index].name) }
        }
    }
}

extension JSONObject: Hashable {
    /// Whether two objects have the same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }

    /// Feeds the value to a hasher, independently of the order of members.
    public func hash(into hasher: inout Hasher) {
        // A sum, as it does not depend on the order of the members.
        var sum = 0
        for member in members {
            var own = Hasher()
            own.combine(ExactText(member.name))
            own.combine(member.value)
            sum &+= own.finalize()
        }
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Makes an object with the members of a literal whose value is not `nil`. Names must differ.
    public init(dictionaryLiteral elements: (String, JSONValue?)...) {
        members.reserveCapacity(elements.count)
        for (name, value) in elements { if let value { members.append(Member(name: name, value: value)) } }
        assert(!Self.hasRepeatedName(members), "a name stands twice in a literal")
        if members.count >= Self.indexedCountMin { buildIndex() }
    }
}
