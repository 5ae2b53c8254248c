package import EventLog
import JSON

/// The acts by which texts of a log were replaced for ever.
package enum Redactions {
    /// The kind of the act that a redaction appends.
    package static let actKind = EventKind("logtool.redact/1" as StaticString)

    /// The sequence of the newest redaction; zero without any. What was derived from an earlier part of the log may hold a text
    /// that is gone since.
    package static func newest(in session: borrowing ReadSession) throws -> SequenceNumber {
        for sequence in try session.acts().reversed() {
            // Not copied: an act may name a hundred thousand events, and a follower asks at each poll.
            var isRedaction = false
            try session.forEachEvent(in: sequence...sequence) { event in
                isRedaction = event.kind == actKind
                return false
            }
            if isRedaction { return sequence }
        }
        return .zero
    }

    /// The facts of a compaction with texts replaced, and with the marks by which a gateway's repeats are known made of the
    /// substitutes.
    ///
    /// - Parameters:
    ///   - substitutes: The new payloads of redacted events.
    ///   - replaced: A text without what is redacted.
    /// - Returns: `nil` if nothing changes.
    /// - Throws: `JSONError` if the facts are no JSON; `EventLogError`.
    package static func facts(
        _ session: borrowing ReadSession,
        _ substitutes: [SequenceNumber: [UInt8]],
        _ replaced: (String) -> String
    ) throws -> [UInt8]? {
        guard let facts = try session.fact(Replay.factName) else { return nil }
        let key = FrameKey(try session.identity())
        let value = try JSONValue.parse(facts)
        let other = value.mappingFacts { mark in
            guard let text = mark.array?.last?.string, let sequence = UInt64(text),
                let substitute = substitutes[SequenceNumber(sequence)]
            else { return mark }
            let hash = substitute.withUnsafeBytes { key.hash($0) }
            return .array([mark.array?.first ?? .null, .string(String(hash, radix: 16)), .string(text)])
        } text: {
            replaced($0)
        }
        return other == value ? nil : other.canonicalBytes
    }
}

extension JSONValue {
    /// Facts with the dispatches of connections and all other strings put through closures. Names of members stay.
    fileprivate func mappingFacts(mark: (JSONValue) -> JSONValue, text: (String) -> String) -> JSONValue {
        switch self {
        case .string(let string): return .string(text(string))
        case .array(let elements): return .array(elements.map { $0.mappingFacts(mark: mark, text: text) })
        case .object(let object):
            var result = JSONObject()
            for member in object.members {
                result[member.name] =
                    member.name == "frames" && member.value.array != nil
                    ? .array((member.value.array ?? []).map(mark))
                    : member.value.mappingFacts(mark: mark, text: text)
            }
            return .object(result)
        case .null, .bool, .number: return self
        }
    }
}
