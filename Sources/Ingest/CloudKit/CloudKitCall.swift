import JSON

#if Recorders
import EventLog

/// The bodies of a recorder's requests, as JSON (CloudKit Web Services Reference: "Fetching Records Using a Query",
/// "Fetching Records by Record Name").
enum CloudKitCall {
    /// The most records of one answer; 200 is the most that CloudKit allows.
    private static let resultsLimit: Int64 = 200

    /// A query for records of one type, with one condition.
    struct Query: Sendable {
        let type: String
        let field: String
        let comparator: String
        /// For a `TIMESTAMP` milliseconds since 1970 UTC.
        let value: Int64
        let valueType: String
        /// True to sort by the field, descending; otherwise CloudKit chooses the order.
        var sortsByField = false

        /// The sessions whose time is at or after an instant; the same query as the phone's app sends.
        static func sessions(since time: Timestamp) -> Query {
            Query(
                type: "Session",
                field: "timestamp",
                comparator: "GREATER_THAN_OR_EQUALS",
                value: time.microseconds / 1_000,
                valueType: "TIMESTAMP",
                sortsByField: true
            )
        }

        /// The prompts that are answered, or those that are not. A query without a filter would need an index that the
        /// app's schema lacks.
        static func prompts(responded: Bool) -> Query {
            Query(
                type: "Prompt",
                field: "responded",
                comparator: "EQUALS",
                value: responded ? 1 : 0,
                valueType: "INT64"
            )
        }
    }

    /// The body of `records/query`.
    ///
    /// - Parameter marker: the marker in the answer before; `nil` for the first page.
    static func body(_ query: Query, marker: String?) -> [UInt8] {
        var json = JSONWriter()
        json.begin("{")
        json.name("query")
        json.begin("{")
        json.name("recordType")
        json.string(query.type)
        json.name("filterBy")
        json.begin("[")
        writeFilter(query, &json)
        json.end("]")
        if query.sortsByField { writeSort(query, &json) }
        json.end("}")
        json.name("resultsLimit")
        json.number(resultsLimit)
        if let marker {
            json.name("continuationMarker")
            json.string(marker)
        }
        json.end("}")
        return json.bytes
    }

    /// The body of `records/lookup`, for at most 200 names.
    static func lookup(_ names: [String]) -> [UInt8] {
        var json = JSONWriter()
        json.begin("{")
        json.name("records")
        json.begin("[")
        for name in names {
            json.begin("{")
            json.name("recordName")
            json.string(name)
            json.end("}")
        }
        json.end("]")
        json.end("}")
        return json.bytes
    }

    private static func writeFilter(_ query: Query, _ json: inout JSONWriter) {
        json.begin("{")
        json.name("fieldName")
        json.string(query.field)
        json.name("comparator")
        json.string(query.comparator)
        json.name("fieldValue")
        json.begin("{")
        json.name("value")
        json.number(query.value)
        json.name("type")
        json.string(query.valueType)
        json.end("}")
        json.end("}")
    }

    private static func writeSort(_ query: Query, _ json: inout JSONWriter) {
        json.name("sortBy")
        json.begin("[")
        json.begin("{")
        json.name("fieldName")
        json.string(query.field)
        json.name("ascending")
        json.literal(false)
        json.end("}")
        json.end("]")
    }
}

/// One record of an answer.
struct CloudKitRecord: Equatable {
    let name: String
    /// The record's change tag, which changes with every save; `nil` if the record does not exist.
    let tag: String?
    /// True if the answer states that there is no such record.
    let isMissing: Bool

    /// Reads the records of an answer; `nil` if it has no list of records. Elements without a name are passed over.
    static func all(in json: JSONValue) -> [CloudKitRecord]? {
        json["records"]?.array?.compactMap { element in
            guard let name = element["recordName"]?.string else { return nil }
            let isMissing =
                element["serverErrorCode"]?.string == "NOT_FOUND" || element["deleted"] == .bool(true)
            return CloudKitRecord(name: name, tag: element["recordChangeTag"]?.string, isMissing: isMissing)
        }
    }
}
#endif
