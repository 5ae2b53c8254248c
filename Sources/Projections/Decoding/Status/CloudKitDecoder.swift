import EventLog

/// Reads CloudKit records: `cloudkit.records/1`, the body of one answer to `records/query` or `records/lookup`.
///
/// A `Session` record is a session, a `Prompt` record a prompt; the record's name is the id. A record is gone if it is
/// marked deleted or a lookup returns `NOT_FOUND`. A record missing from a query is not gone: it may be too old for the
/// query's window. A record already seen in this version (`modified`) or a later one changes nothing.
///
/// Versions outlive their records, so an answer from before a removal does not bring the record back.
struct CloudKitDecoder: SourceDecoder {
    /// The newest version of a record in milliseconds since 1970 (UTC), and the sequences of the events that each
    /// brought a newer one, in log order.
    private struct Version: Codable {
        var modified: Int64
        var sequences: [UInt64]
    }

    private var versions: [EntityID: Version] = [:]

    init() {}

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let status = envelope.attributes["status"]
        guard status.map({ $0.utf8.count == 3 && $0.utf8.first == UInt8(ascii: "2") }) ?? true else { return }
        guard let body = try? JSONValue.parse(payload), let records = body["records"]?.array else {
            return context.issue("records: no object with a list of records")
        }
        // The first page of several has a marker, the last one only its number.
        let goesOn = body["continuationMarker"]?.string != nil || (envelope.attributes["page"] ?? "1") != "1"
        if goesOn, context.rules.contains(.longAnswersNeverEnd) { return }
        // In the order of the answer. A record may occur twice; the version decides.
        for (index, value) in records.enumerated() {
            guard let record = value.object, let name = record["recordName"]?.string else {
                context.issue("records: record \(index + 1): recordName is missing")
                continue
            }
            let id = context.names.id(name)
            // A lookup's failure names no type; a query's attribute does.
            let type = record["recordType"]?.string ?? envelope.attributes["type"]
            // A record with any other error was not returned, which proves nothing.
            if record["serverErrorCode"] != nil || record["deleted"]?.bool == true {
                let isGone = record["deleted"]?.bool == true || record["serverErrorCode"]?.string == "NOT_FOUND"
                if isGone { changes += Self.removal(of: id, type: type) }
            } else if take(record, id: id, at: context.event) {
                read(record, id: id, type: type, into: &changes, context: &context)
            }
        }
    }

    /// Notes a record's version and returns whether it is new; always true for a record without a version.
    private mutating func take(_ record: JSONObject, id: EntityID, at event: EventReference) -> Bool {
        guard let modified = CloudField.integer(record["modified"]?["timestamp"]) else { return true }
        guard let known = versions[id] else {
            versions[id] = Version(modified: modified, sequences: [event.sequence.rawValue])
            return true
        }
        guard known.modified < modified else { return false }
        versions[id]?.modified = modified
        versions[id]?.sequences.append(event.sequence.rawValue)
        return true
    }

    /// Adds every event that brought a newer version: kept events give the versions again, so facts need none.
    func collectNeeded(into sequences: inout SequenceSet) {
        for version in versions.values { sequences.formUnion(version.sequences) }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for (id, version) in versions.sorted(by: { names.precedes($0.key, $1.key) }) {
            let sequences = JSONValue.array(version.sequences.map { .int($0) })
            take(.array([.string(names.text(id)), .int(version.modified), sequences]))
        }
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

extension CloudKitDecoder {
    /// The removals of a record. A record without a type may be either; a removal of an unknown thing changes nothing.
    private static func removal(of id: EntityID, type: String?) -> [Change] {
        switch type {
        case "Session": [.session(.removed(id))]
        case "Prompt": [.prompt(.removed(id))]
        case nil: [.session(.removed(id)), .prompt(.removed(id))]
        default: []
        }
    }

    /// Adds the change of a record that exists. A session that cannot be read stays as it was; a prompt becomes
    /// unreadable, since its record shows that it exists.
    private func read(
        _ record: JSONObject,
        id: EntityID,
        type: String?,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let fields = CloudField(record["fields"]?.object ?? JSONObject())
        switch type {
        case "Session":
            switch fields.session(id: id) {
            case .success(let session): changes.append(.session(.observed(session)))
            case .failure(let fault): context.issue("session record: \(fault.reason)")
            }
        case "Prompt" where context.rules.contains(.noPromptIsFound): break
        case "Prompt":
            switch fields.prompt(id: id) {
            case .success(let prompt): changes.append(.prompt(.asked(prompt)))
            case .failure(let fault):
                context.issue("prompt record: \(fault.reason)")
                changes.append(.prompt(.unreadable(id)))
            }
        default: break
        }
    }
}

/// The fields of a CloudKit record: `{"name":{"value":…,"type":"…"}}`. The stated types are not compared; null counts
/// as absent.
struct CloudField {
    /// Why a record is unreadable.
    struct Fault: Error {
        let reason: String
    }

    private let fields: JSONObject

    init(_ fields: JSONObject) {
        self.fields = fields
    }

    /// A whole number, or the digits of one: CloudKit sends those to requests with `numbersAsStrings`.
    static func integer(_ value: JSONValue?) -> Int64? {
        value?.number?.wholeInt64 ?? value?.string.flatMap { Int64($0) }
    }

    private func value(_ name: String) -> JSONValue? {
        guard let value = fields[name]?["value"], !value.isNull else { return nil }
        return value
    }

    private func text(_ name: String) -> String? { value(name)?.string }

    /// A time from milliseconds since 1970 (UTC); `nil` if its microseconds exceed 64 bits.
    private func time(_ name: String) -> Timestamp? {
        Self.integer(value(name)).flatMap { Timestamp(milliseconds: $0) }
    }

    /// The session, which needs a known status, a project and a time. Its `timestamp` is in milliseconds; the text is
    /// that instant in RFC 3339.
    func session(id: EntityID) -> Result<SessionFields, Fault> {
        guard let status = text("status"), StatusText.states.contains(status) else {
            return .failure(Fault(reason: "status is none of working, idle, needs_input, not_running"))
        }
        guard let project = text("project") else { return .failure(Fault(reason: "project is missing")) }
        guard let time = time("timestamp") else { return .failure(Fault(reason: "timestamp is missing")) }
        return .success(
            SessionFields(
                id: id,
                project: project,
                status: status,
                timestamp: time.description,
                instant: time,
                pid: Self.integer(value("pid")),
                device: text("macDeviceName")
            )
        )
    }

    /// The prompt, which needs its session, project, message and time; it is answered if `responded` is 1.
    func prompt(id: EntityID) -> Result<PromptFields, Fault> {
        for name in ["sessionId", "project", "promptMessage"] where text(name) == nil {
            return .failure(Fault(reason: "\(name) is missing"))
        }
        guard let askedAt = time("timestamp") else { return .failure(Fault(reason: "timestamp is missing")) }
        return .success(
            PromptFields(
                id: id,
                session: text("sessionId"),
                project: text("project"),
                text: text("promptMessage"),
                askedAt: askedAt,
                answer: text("responseText"),
                answeredAt: time("respondedAt"),
                isAnswered: Self.integer(value("responded")) == 1
            )
        )
    }
}
