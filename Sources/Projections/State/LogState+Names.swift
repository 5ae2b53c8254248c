public import EventLog

extension LogState {
    /// A channel with the name that people see.
    public struct KnownChannel: Sendable {
        /// The channel's full name, with its id.
        public let reference: EntityReference
        /// What it was called last; `nil` if no event told.
        public let name: String?
    }

    /// The channels that are or were known, by source and id.
    ///
    /// - Parameter source: limits them to those of one source.
    public func knownChannels(of source: SourceName? = nil) -> [KnownChannel] {
        var known: [KnownChannel] = []
        forEachPlace(of: .channel) { place in
            if let source, sources[place.source].name != source { return }
            let name = sources[place.source].parts.channels.name(of: place.key.first)
            known.append(KnownChannel(reference: place.reference, name: name))
        }
        return known
    }

    /// The channels that a text can mean: by their ids or, if it is no id, by their names. The source may be left out.
    public func channels(called wanted: EntityReference, of source: SourceName? = nil) -> [KnownChannel] {
        let known = knownChannels(of: source)
        let byID = known.filter { wanted.fits($0.reference.parts) }
        if !byID.isEmpty { return byID }
        return known.filter { channel in
            channel.name.map { wanted.fits([channel.reference.parts[0], $0]) } ?? false
        }
    }

    /// The sessions, also ended ones, that have a project's name by their last status. The source may be left out.
    /// Cost: reads all histories of sessions.
    public func sessions(of project: EntityReference) -> [EntityReference] {
        var found: [EntityReference] = []
        forEachHistory(of: .session) { thing, entries in
            let name = entries.last { $0.fields["project"] != nil }?.fields["project"]?.string
            if let name, project.fits([thing.parts[0], name]) { found.append(thing) }
        }
        return found
    }

    /// Who wrote something, or did something to it.
    public struct Person: Hashable, Sendable {
        /// The id; the name where the remote gives no id.
        public let id: String
        /// The name for display that was told with the id, if one was.
        public let name: String?

        /// Makes a person.
        public init(id: String, name: String?) {
            (self.id, self.name) = (id, name)
        }

        /// Whether a text is the id, byte for byte.
        public func hasID(_ text: String) -> Bool { ExactText(id) == ExactText(text) }

        /// Whether a text is the name, byte for byte.
        public func isCalled(_ text: String) -> Bool { name.map { ExactText($0) == ExactText(text) } ?? false }

        /// Compares bytes: two people may differ in the composition of an accent alone.
        public static func == (left: Person, right: Person) -> Bool {
            left.hasID(right.id) && left.name.map { ExactText($0) } == right.name.map { ExactText($0) }
        }

        /// Hashes the bytes that `==` compares.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(ExactText(id))
            hasher.combine(name.map { ExactText($0) })
        }
    }

    /// Everybody who wrote a message, with each name that was told of them, by id and name. Cost: reads all histories of
    /// messages.
    ///
    /// - Parameter source: limits them to those of one source.
    public func authors(of source: SourceName? = nil) -> [Person] {
        var found: Set<Person> = []
        forEachHistory(of: .message) { thing, entries in
            if let source, thing.parts.first != source.rawValue { return }
            for entry in entries {
                let (id, name) = (entry.fields["author"]?.string, entry.fields["authorName"]?.string)
                if let id = id ?? name { found.insert(Person(id: id, name: name)) }
            }
        }
        return Self.sorted(found)
    }

    /// Everybody who did something to a thing of some kinds, as far as the remotes tell, by id. Cost: reads all histories of
    /// these kinds.
    ///
    /// - Parameter source: limits them to those of one source.
    public func doers(to kinds: [EntityReference.Kind], of source: SourceName? = nil) -> [Person] {
        var found: Set<Person> = []
        for kind in kinds {
            forEachHistory(of: kind) { thing, entries in
                if let source, thing.parts.first != source.rawValue { return }
                for by in entries.compactMap(\.by) { found.insert(Person(id: by, name: nil)) }
            }
        }
        return Self.sorted(found)
    }

    private static func sorted(_ people: Set<Person>) -> [Person] {
        people.sorted { ($0.id, $0.name ?? "") < ($1.id, $1.name ?? "") }
    }
}
