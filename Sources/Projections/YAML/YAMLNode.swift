/// A value of a YAML document with the line on which it begins: for files whose mistakes are told by line.
///
/// Scalars are the text as written. Merge keys are names like others.
package struct YAMLNode: Sendable {
    /// What the document has there.
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

    /// The line on which it begins, from 1.
    package let line: Int
    /// What the document has there.
    package let value: Value

    /// The members of a map; `nil` where it is none.
    package var members: [Member]? { if case .map(let members) = value { members } else { nil } }
    /// The elements of a list; `nil` where it is none.
    package var elements: [YAMLNode]? { if case .list(let elements) = value { elements } else { nil } }
    /// The text of a scalar; `nil` where it is none, or absent.
    package var text: String? { if case .text(let text, _) = value { text } else { nil } }
}

extension YAMLDocument {
    /// The document with its lines, with the same limits as `members(of:)`.
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
    /// The value that begins with an event; `YAMLEvents` bounds how deep that goes.
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
