public import EventLog
import JSON

/// A rule under `observed` of a decoder file: what a client says of its screen in its own words, as the observation that it
/// means (`docs/observed.md`).
struct DecoderObserved: Sendable {
    /// The rows of one section.
    struct ShownSection: Sendable {
        let section: Section
        /// The lists that lead to the rows, from the outside: one, or two where lists hold lists.
        let lists: [DecoderPlace]
        /// The elements that are rows.
        let when: DecoderTests
        let members: [(name: String, value: DecoderValue)]
    }

    /// The members that are no rows.
    static let names = [
        "client", "source", "received", "path", "sequence", "order", "complete", "channel", "list", "table", "guild",
    ]
    /// The sections with rows that a client shows.
    static let sections = Section.allCases.filter { ![.typing, .sessionAggregates, .issues].contains($0) }

    let line: Int
    let when: DecoderTests
    let members: [(name: String, value: DecoderValue)]
    let rows: [ShownSection]

    fileprivate func observation(_ scope: inout DecoderScope) throws(DecoderFileError) -> JSONValue {
        var object = JSONObject()
        for (name, value) in members { object[name] = scope.observed(value) }
        for rows in rows {
            var found: [JSONValue] = []
            guard Self.read(rows, rows.lists[...], &scope, into: &found) else {
                throw DecoderFileError(
                    line,
                    "what the client says has no list where \(rows.section.rawValue) are looked for"
                )
            }
            object[rows.section.rawValue] = .array(found)
        }
        return .object(object)
    }

    /// Adds the rows of a list, or of the lists in it; false if there is no list.
    private static func read(
        _ rows: ShownSection,
        _ lists: ArraySlice<DecoderPlace>,
        _ scope: inout DecoderScope,
        into found: inout [JSONValue]
    ) -> Bool {
        guard let place = lists.first else {
            guard scope.fits(rows.when) else { return true }
            var row = JSONObject()
            for (name, value) in rows.members { row[name] = scope.observed(value) }
            found.append(.object(row))
            return true
        }
        guard case .view(let list)? = scope.value(.place(place)), list.elements != nil || list.members != nil else {
            return false
        }
        var isWhole = true
        for element in list.elements ?? [] {
            scope.entering(.view(element), isLoop: true) {
                isWhole = read(rows, lists.dropFirst(), &$0, into: &found) && isWhole
            }
        }
        for member in list.members ?? [] {
            scope.entering(.view(member.value), key: member.name, isLoop: true) {
                isWhole = read(rows, lists.dropFirst(), &$0, into: &found) && isWhole
            }
        }
        return isWhole
    }
}

extension DecoderScope {
    /// A member of an observation: a time as RFC 3339 has it, anything else as it is; `nil` for null and what is not there.
    fileprivate func observed(_ value: DecoderValue) -> JSONValue? {
        if Self.timeForm(value) != nil { return time(value).known.map { .string($0.description) } }
        return self.value(value).flatMap { $0.isNull ? nil : $0.value }
    }
}

extension DecoderFile {
    /// What a client says of its screen in its own words, as an observation (`docs/observed.md`), by the first rule under
    /// `observed` that takes it; `nil` if none does.
    ///
    /// - Parameters:
    ///   - payload: What the client said: one JSON text.
    ///   - attributes: Those of the event that holds it.
    /// - Throws: `DecoderFileError` with the rule's line if it finds no list of rows, or if the payload is no JSON.
    public func observation(
        in payload: [UInt8],
        _ attributes: Attributes
    ) throws(DecoderFileError) -> JSONValue? {
        if observed.isEmpty { return nil }
        let found = payload.withUnsafeBytes { bytes in
            Result { () throws(DecoderFileError) in try observation(in: bytes, attributes) }
        }
        return try found.get()
    }

    private func observation(
        in payload: UnsafeRawBufferPointer,
        _ attributes: Attributes
    ) throws(DecoderFileError) -> JSONValue? {
        guard let document = try? JSONDocument(payload) else { throw DecoderFileError(nil, "it is no JSON") }
        var scope = DecoderScope(document, attributes, isLink: false, absences)
        guard let rule = observed.first(where: { scope.fits($0.when) }) else { return nil }
        return try rule.observation(&scope)
    }
}

extension Decoders {
    /// What an event of a client says of its screen, where a decoder file knows the client's words: the file of the event's
    /// own source, or the one file in force that has rules under `observed`. The observation names that file's source unless it names one
    /// itself.
    ///
    /// - Returns: `nil` if there is no such file, or none of its rules takes the payload.
    /// - Throws: as `DecoderFile.observation`.
    package func observation(in payload: [UInt8], of event: Envelope) throws(DecoderFileError) -> JSONValue? {
        let able = sources.filter { self[$0].map { !$0.observed.isEmpty } ?? false }
        let source = able.contains(event.source) ? event.source : able.count == 1 ? able[0] : nil
        guard let source, let file = self[source] else { return nil }
        guard var object = try file.observation(in: payload, event.attributes)?.object else { return nil }
        if object["source"] == nil { object["source"] = .string(source.rawValue) }
        return .object(object)
    }
}

extension Section {
    /// The members that a shown row may have: those of a state's row, but for its source.
    var observedMembers: [String] {
        rowMembers.filter { $0 != "source" } + (self == .messages ? ["deleted"] : [])
    }
}
