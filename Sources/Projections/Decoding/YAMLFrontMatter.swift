/// Front matter as a YAML reader reads it, with every scalar as the text that was written: no Booleans, no numbers.
///
/// Limits keep hostile text from costing more than it is worth (`YAMLEvents`). An alias stands for a scalar only.
enum YAMLFrontMatter {
    /// The members of the top-level map, merge keys resolved. Absent ones (empty, `~`, `null`) are left out.
    ///
    /// Where `isTyped`, plain scalars are truth values and numbers where YAML 1.1 takes them for such.
    static func members(of text: String, isTyped: Bool = false) throws(FrontMatter.Fault) -> JSONObject {
        let root: JSONValue?
        do throws(YAMLFault) {
            let reader = Reader(events: try YAMLEvents(text), isTyped: isTyped)
            root = try reader.root()
        } catch {
            throw FrontMatter.Fault(reason: "its front matter \(error.reason)")
        }
        guard let members = root?.object else {
            throw FrontMatter.Fault(reason: "its front matter is no list of keys and values")
        }
        var present = JSONObject()
        for member in members.members where !member.value.isNull { present[member.name] = member.value }
        return present
    }
}

/// Puts events together, depth first; `YAMLEvents` bounds how deep that goes.
private struct Reader {
    private typealias Event = YAMLEvents.Event

    private let events: YAMLEvents
    private let isTyped: Bool

    init(events: YAMLEvents, isTyped: Bool) {
        self.events = events
        self.isTyped = isTyped
    }

    /// The document's value; `nil` where there is no document.
    func root() throws(YAMLFault) -> JSONValue? {
        guard let first = try events.next() else { return nil }
        let root = try value(first)
        // What follows may be no YAML, or another document.
        guard try events.next() == nil else { throw .invalid }
        return root
    }

    private func next() throws(YAMLFault) -> Event {
        guard let event = try events.next() else { throw .invalid }
        return event
    }

    private func value(_ event: Event) throws(YAMLFault) -> JSONValue {
        switch event {
        case .scalar(let scalar): return value(of: scalar)
        case .mappingStart: return .object(try members())
        case .collectionEnd: throw .invalid
        case .sequenceStart:
            var elements: [JSONValue] = []
            while true {
                let event = try next()
                if case .collectionEnd = event { return .array(elements) }
                elements.append(try value(event))
            }
        }
    }

    private func members() throws(YAMLFault) -> JSONObject {
        var members = JSONObject()
        var merged: [JSONObject] = []
        var keys: Set<[String]> = []
        while case .scalar(let key) = try next() {
            guard keys.insert(key.identity).inserted else { throw .invalid }
            // A plain `<<` merges; a quoted one is a name.
            if key.isPlain, key.text == "<<" {
                merged += try mergeSources(try next())
            } else {
                members[key.text] = try value(try next())
            }
        }
        for member in merged.lazy.flatMap(\.members) where members[member.name] == nil {
            members[member.name] = member.value
        }
        return members
    }

    private func mergeSources(_ event: Event) throws(YAMLFault) -> [JSONObject] {
        switch event {
        case .mappingStart: return [try members()]
        case .scalar, .collectionEnd: throw .mergesNoMap
        case .sequenceStart:
            var sources: [JSONObject] = []
            while true {
                let event = try next()
                if case .collectionEnd = event { return sources }
                sources += try mergeSources(event)
            }
        }
    }

    private func value(of scalar: YAMLScalar) -> JSONValue {
        let isAbsent = scalar.text.isEmpty || (scalar.isPlain && ["~", "null"].contains(scalar.text))
        if isAbsent { return .null }
        if isTyped, scalar.isPlain, let value = TypedFrontMatter.value(ofPlain: scalar.text) { return value }
        return .string(scalar.text)
    }
}
