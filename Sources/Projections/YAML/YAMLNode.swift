/// A value of a YAML document with the line on which it begins, for error messages that name a line.
///
/// Scalars are the text as written. Merge keys are ordinary names. `YAMLReader` builds values without lines and with
/// merges.
package struct YAMLNode: Sendable {
    /// The kinds of values.
    package enum Value: Sendable {
        /// Empty, `~` or `null`.
        case absent
        case text(String, isPlain: Bool)
        case list([YAMLNode])
        case map([Member])
    }

    /// One member of a map.
    package struct Member: Sendable {
        /// The name.
        package let name: String
        /// The line of the name.
        package let line: Int
        /// The value.
        package let value: YAMLNode
    }

    /// The line on which the value begins, from 1.
    package let line: Int
    /// The value.
    package let value: Value

    /// The members of a map; `nil` for any other value.
    package var members: [Member]? { if case .map(let members) = value { members } else { nil } }
    /// The elements of a list; `nil` for any other value.
    package var elements: [YAMLNode]? { if case .list(let elements) = value { elements } else { nil } }
    /// The text of a scalar; `nil` for any other value, and for an absent one.
    package var text: String? { if case .text(let text, _) = value { text } else { nil } }
}

extension YAMLDocument {
    /// The document with its lines, within the limits of `members(of:)`; absent on line 1 if there is no document.
    package static func node(of text: String) throws(Fault) -> YAMLNode {
        guard text.utf8.count <= bytesMax else { throw Fault(reason: "has more than \(bytesMax) bytes", line: nil) }
        let events: YAMLEvents
        do throws(YAMLFault) { events = try YAMLEvents(text) } catch { throw Fault(reason: error.reason, line: nil) }
        do throws(YAMLFault) {
            guard let first = try events.next() else { return YAMLNode(line: 1, value: .absent) }
            let root = try events.node(first)
            guard try events.next() == nil else { throw .invalid }
            return root
        } catch {
            throw Fault(reason: error.reason, line: events.line)
        }
    }
}

extension YAMLEvents {
    /// Reads the value that begins with an event. Recursive; `YAMLEvents` bounds the depth.
    fileprivate func node(_ event: Event) throws(YAMLFault) -> YAMLNode {
        let line = startLine
        switch event {
        case .scalar(let scalar):
            let isAbsent = scalar.isPlain && ["", "~", "null"].contains(scalar.text)
            return YAMLNode(line: line, value: isAbsent ? .absent : .text(scalar.text, isPlain: scalar.isPlain))
        case .mappingStart: return YAMLNode(line: line, value: .map(try nodeMembers()))
        case .collectionEnd: throw .invalid
        case .sequenceStart:
            var elements: [YAMLNode] = []
            while true {
                let event = try required()
                if case .collectionEnd = event { return YAMLNode(line: line, value: .list(elements)) }
                elements.append(try node(event))
            }
        }
    }

    private func nodeMembers() throws(YAMLFault) -> [YAMLNode.Member] {
        var members: [YAMLNode.Member] = []
        // Compares bytes: two spellings of one name in Unicode are two names.
        var names: Set<ExactText> = []
        while case .scalar(let key) = try required() {
            let line = startLine
            guard names.insert(ExactText(key.text)).inserted else { throw .invalid }
            members.append(YAMLNode.Member(name: key.text, line: line, value: try node(try required())))
        }
        return members
    }

    private func required() throws(YAMLFault) -> Event {
        guard let event = try next() else { throw .invalid }
        return event
    }
}
