/// Builds the value of a document from its events, depth first. Recursive; `YAMLEvents` bounds the depth.
///
/// Scalars become texts as written, and empty ones, a plain `~` or a plain `null` become null.
struct YAMLReader {
    private typealias Event = YAMLEvents.Event

    private let events: YAMLEvents

    init(events: YAMLEvents) {
        self.events = events
    }

    /// The document's value; `nil` if there is no document.
    func root() throws(YAMLFault) -> JSONValue? {
        guard let first = try events.next() else { return nil }
        let root = try value(first)
        // The rest may be malformed, or another document.
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

    /// Reads a map up to its end. A repeated key is a fault.
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
        // After the map's own keys, which win wherever `<<` occurs; of several merged maps the first wins
        // (<https://yaml.org/type/merge.html>).
        for member in merged.lazy.flatMap(\.members) where members[member.name] == nil {
            members[member.name] = member.value
        }
        return members
    }

    /// The maps that a `<<` merges, in order: one map, or the maps of a list, nested lists included.
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
        return .string(scalar.text)
    }
}

/// A file of settings in YAML, with the same limits as front matter.
package enum YAMLDocument {
    /// The longest text, in bytes.
    package static let bytesMax = 1 << 20

    /// Why a text is unreadable, or no map in YAML.
    package struct Fault: Error {
        /// A predicate that contains nothing of the text.
        package let reason: String
        /// The line of the fault, from 1; `nil` if it has none.
        package let line: Int?
    }

    /// The members of the top-level map, merge keys resolved. Scalars are the text as written; empty ones, `~` and
    /// `null` are null.
    package static func members(of text: String) throws(Fault) -> JSONObject {
        guard text.utf8.count <= bytesMax else { throw Fault(reason: "has more than \(bytesMax) bytes", line: nil) }
        let events: YAMLEvents
        do throws(YAMLFault) {
            events = try YAMLEvents(text)
        } catch {
            throw Fault(reason: error.reason, line: nil)
        }
        let root: JSONValue?
        do throws(YAMLFault) {
            root = try YAMLReader(events: events).root()
        } catch {
            throw Fault(reason: error.reason, line: events.line)
        }
        guard let members = root?.object else { throw Fault(reason: "is no mapping", line: nil) }
        return members
    }
}
