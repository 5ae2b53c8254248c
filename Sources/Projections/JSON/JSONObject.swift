/// The members of an object, in order. A name stands once: of repeated names the last value counts, at the first's place.
///
/// Names are the same if all bytes are. Looking a name up takes O(1) from `indexedCountMin` members on; below, a look at
/// each is faster.
public struct JSONObject: Codable, Sendable {
    /// One member.
    public struct Member: Codable, Hashable, Sendable {
        /// The name.
        public let name: String
        /// The value.
        public var value: JSONValue
    }

    private static let indexedCountMin = 17

    /// The members in order.
    public private(set) var members: [Member] = []
    /// The places of the names; `nil` while there are few.
    private var places: [ExactText: Int]?

    /// Makes an empty object.
    public init() {}

    /// Makes an object of members in order, among which names may stand again.
    init(members: [Member]) {
        if members.count < Self.indexedCountMin, !Self.hasRepeatedName(members) {
            self.members = members
        } else {
            for member in members { self[member.name] = member.value }
        }
    }

    /// Makes an object of members whose names are known to differ.
    init(distinct members: [Member]) {
        self.members = members
        if members.count >= Self.indexedCountMin { buildIndex() }
    }

    /// The value of a member. Setting `nil` takes the member away; setting a new name adds it at the end.
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

    /// Whether both are copies of one object that nothing has changed since. False says nothing.
    func hasSameStorage(as other: JSONObject) -> Bool {
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
        places.reserveCapacity(2 * members.count)
        for (place, member) in members.enumerated() { places[ExactText(member.name)] = place }
        self.places = places
    }

    private static func hasRepeatedName(_ members: [Member]) -> Bool {
        members.indices.contains { index in
            members[..<index].contains { ExactText($0.name) == ExactText(members[index].name) }
        }
    }
}

extension JSONObject: Hashable {
    /// Whether two objects have the same members, in whatever order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }

    /// Feeds the value to a hasher; the order of members does not show.
    public func hash(into hasher: inout Hasher) {
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
