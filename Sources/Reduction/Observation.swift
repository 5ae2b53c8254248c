import EventLog
import JSON
import Projections

/// What a client itself showed at one moment, in the client's own words (`docs/observed.md`): rows with some of the members that a
/// state document has.
public struct Observation: Sendable {
    /// How far the client had read when it showed this.
    enum Position: Hashable, Sendable {
        /// So many messages of its newest connection, at a path if there are several.
        case received(Int, path: String?)
        /// Up to this event of the log.
        case sequence(SequenceNumber)
    }

    /// The order of rows on the screen.
    enum Order: String, CaseIterable, Sendable {
        case ascending, descending, any
    }

    /// The rows of one section that were shown in one channel, list, table or guild.
    struct Shown: Sendable {
        let section: Section
        /// The channel, list, table or guild; `nil` for a section that is not divided.
        let scope: String?
        /// In the order of the state.
        var rows: [Row] = []
    }

    /// One shown row.
    struct Row: Sendable {
        /// Within its scope.
        let id: String
        /// The members that are compared with the state's row.
        let members: JSONObject
    }

    /// Every member that an observation or a row of one may have.
    static let members: Set<String> = {
        var names: Set = ["client", "source", "path", "received", "sequence", "order", "complete", "deleted"]
        for section in Section.allCases where section.observedID != nil {
            names.formUnion([section.rawValue] + [section.observedScope, section.observedID].compactMap { $0 })
            names.formUnion(section.rowMembers)
        }
        return names
    }()

    /// The client's name for itself, which tells several apart.
    let client: String?
    /// The source whose state was shown; `nil` for the one that has the rows.
    let source: SourceName?
    let position: Position?
    let order: Order
    /// False if the client shows only some of the rows that it has.
    let isComplete: Bool
    /// In the order in which the sections and scopes were first stated.
    let shown: [Shown]

    /// Reads an observation.
    ///
    /// - Throws: `ObservationError` naming the member that cannot be read.
    public init(_ payload: [UInt8]) throws(ObservationError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(payload, allowsRepeatedNames: false)
        } catch {
            throw ObservationError("it is no JSON: \(error.reason)")
        }
        try self.init(value)
    }

    /// Reads what a client showed in its own words, where a decoder file knows these, or else as an observation.
    init(_ payload: [UInt8], of event: Envelope, _ decoders: Decoders) throws(ObservationError) {
        let stated: JSONValue?
        do throws(DecoderFileError) {
            stated = try decoders.observation(in: payload, of: event)
        } catch {
            throw ObservationError("by the decoder file: \(error)")
        }
        if let stated { try self.init(stated) } else { try self.init(payload) }
    }

    private init(_ value: JSONValue) throws(ObservationError) {
        guard let object = value.object else { throw ObservationError("it is no JSON object") }
        var reader = ObservationReader()
        for member in object.members where !member.value.isNull {
            try reader.read(member.name, member.value, of: object)
        }
        (client, order) = (reader.client, reader.order)
        (source, position, isComplete) = (reader.source, try reader.position(), reader.isComplete)
        shown = reader.shown(descending: reader.order == .descending)
    }
}

/// Why a payload is no observation.
public struct ObservationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, with what is allowed in its place.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Collects the members of an observation.
private struct ObservationReader {
    var client: String?
    var source: SourceName?
    var order = Observation.Order.ascending
    var isComplete = true
    private var received: Int?
    private var path: String?
    private var sequence: SequenceNumber?
    private var groups: [Observation.Shown] = []
    /// The places of `groups`.
    private var places: [String: Int] = [:]

    mutating func read(_ name: String, _ value: JSONValue, of object: JSONObject) throws(ObservationError) {
        switch name {
        case "client": client = try text(name, value)
        case "source":
            guard let name = try? SourceName(text(name, value)) else {
                throw ObservationError("\"source\" is no name of a source")
            }
            source = name
        case "path": path = try text(name, value)
        case "received":
            guard let count = value.number?.int64, count >= 0, count < Int64(Int32.max) else {
                throw ObservationError("\"received\" is no count of messages")
            }
            received = Int(count)
        case "sequence":
            guard let number = UInt64(try text(name, value)) else {
                throw ObservationError("\"sequence\" is no sequence of an event")
            }
            sequence = SequenceNumber(number)
        case "order":
            guard let order = Observation.Order(rawValue: try text(name, value)) else {
                throw ObservationError("\"order\" is none of ascending, descending and any")
            }
            self.order = order
        case "complete":
            guard let truth = value.bool else { throw ObservationError("\"complete\" is neither true nor false") }
            isComplete = truth
        case "channel", "list", "table", "guild":
            let scope = try text(name, value)
            for section in Section.allCases where section.observedScope == name && section.isWhollyShown {
                // A channel that is named alone is shown empty.
                if section == .messages || object[section.rawValue] != nil { _ = place(of: section, scope) }
            }
        default: try readRows(name, value, of: object)
        }
    }

    private mutating func readRows(_ name: String, _ value: JSONValue, of object: JSONObject) throws(ObservationError) {
        guard let section = Section(rawValue: name), section.observedID != nil else {
            let names = Section.allCases.filter { $0.observedID != nil }.map(\.rawValue).joined(separator: ", ")
            throw ObservationError(
                "the member \"\(name.prefix(40))\" means nothing; there are client, source, received, path, sequence, order, complete, "
                    + "channel, list, table, guild, and rows in \(names)"
            )
        }
        guard let rows = value.array else { throw ObservationError("\"\(name)\" is no array") }
        if section.observedScope == nil { _ = place(of: section, nil) }
        for row in rows {
            guard let row = row.object else { throw ObservationError("\"\(name)\" has an element that is no object") }
            try read(row, section, of: object)
        }
    }

    private mutating func read(_ row: JSONObject, _ stated: Section, of object: JSONObject) throws(ObservationError) {
        var section = stated
        if stated == .messages, row["deleted"]?.bool == true { section = .deletedMessages }
        var scope: String?
        if let name = section.observedScope {
            guard let value = (row[name] ?? object[name])?.identifier else {
                throw ObservationError("a row of \"\(stated.rawValue)\" has no \"\(name)\"")
            }
            scope = value
        }
        guard let idName = section.observedID, let id = row[idName]?.identifier else {
            throw ObservationError("a row of \"\(stated.rawValue)\" has no \"\(section.observedID ?? "id")\"")
        }
        var members = JSONObject()
        for member in row.members where ![idName, section.observedScope, "source", "deleted"].contains(member.name) {
            guard section.rowMembers.contains(member.name) || stated.rowMembers.contains(member.name) else {
                let known = section.rowMembers.joined(separator: ", ")
                throw ObservationError(
                    "a row of \"\(stated.rawValue)\" has \"\(member.name.prefix(40))\", which the state has not; there are \(known)"
                )
            }
            members[member.name] = member.value
        }
        groups[place(of: section, scope)].rows.append(Observation.Row(id: id, members: members))
    }

    /// The place in `groups` of a section's scope, which is made where there is none.
    private mutating func place(of section: Section, _ scope: String?) -> Int {
        let name = "\(section.rawValue)/\(scope ?? "")"
        if let place = places[name] { return place }
        places[name] = groups.count
        groups.append(Observation.Shown(section: section, scope: scope))
        return groups.count - 1
    }

    func position() throws(ObservationError) -> Observation.Position? {
        if received != nil, sequence != nil {
            throw ObservationError("\"received\" and \"sequence\" exclude each other")
        }
        if let received { return .received(received, path: path) }
        return sequence.map { .sequence($0) }
    }

    func shown(descending: Bool) -> [Observation.Shown] {
        guard descending else { return groups }
        return groups.map { group in
            Observation.Shown(section: group.section, scope: group.scope, rows: group.rows.reversed())
        }
    }

    private func text(_ name: String, _ value: JSONValue) throws(ObservationError) -> String {
        guard let text = value.identifier else { throw ObservationError("\"\(name)\" is no text") }
        return text
    }
}

extension Section {
    /// The member that divides the rows of a section; `nil` if nothing does.
    var observedScope: String? {
        switch self {
        case .messages, .deletedMessages: "channel"
        case .items: "list"
        case .rows: "table"
        case .members, .roles, .bans, .voiceStates: "guild"
        default: nil
        }
    }

    /// The member that identifies a row within its scope; `nil` for sections that no client shows.
    var observedID: String? {
        switch self {
        case .channels, .guilds, .messages, .deletedMessages, .items, .sessions, .prompts, .rows, .roles: "id"
        case .members, .bans, .voiceStates, .presences: "user"
        case .readStates: "channel"
        case .typing, .sessionAggregates, .issues: nil
        }
    }

    /// Whether a client that shows one row of a scope shows all.
    var isWhollyShown: Bool { self != .deletedMessages }
}
