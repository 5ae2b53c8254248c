import EventLog
import Projections

/// An event as exported lines and proofs write it: everything that its leaf hash covers. Importing and checking of
/// proofs read it back.
enum ExportedEvent {
    /// The members of one event. A redacted event has its commitment in place of the salt, because its payload is a
    /// substitute.
    static func object(for event: RecordedEvent) -> JSONObject {
        var object = EventJSON.object(for: event.envelope)
        object["redacted"] = nil
        if let salt = event.salt {
            object["salt"] = .string(Base64.encode(salt))
        } else {
            object["redacted"] = .bool(true)
            object["commitment"] = .string(Base64.encode(event.commitment.bytes))
        }
        event.payload.withUnsafeBytes { EventJSON.add($0, to: &object) }
        return object
    }

    /// Why a JSON value is not a valid event. The caller adds the file and the line.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the members of one event. Commitment and leaf hash are computed from them, never taken on trust; only a
    /// redacted event's commitment is read.
    ///
    /// - Throws: `Fault`, or `EventLogError` for a name beyond its limits (I3).
    static func event(_ value: JSONValue) throws -> RecordedEvent {
        let payload = try payload(of: value)
        let isRedacted = value["redacted"]?.bool == true
        let salt = isRedacted ? nil : try bytes(value, "salt")
        if let salt, salt.count != 16 { throw Fault(description: "\"salt\" has not 16 bytes") }
        let commitment: Hash256
        if let salt {
            commitment = RecordedEvent.commitment(salt: salt, payload: payload)
        } else {
            commitment = try hash(value, "commitment")
        }
        // The leaf does not contain its own hash, so any value can stand for it until the leaf is known.
        let draft = RecordedEvent(
            envelope: try envelope(value, holding: isRedacted ? .redacted : .whole),
            payload: payload,
            salt: salt,
            commitment: commitment,
            leafHash: commitment
        )
        return RecordedEvent(
            envelope: draft.envelope,
            payload: payload,
            salt: salt,
            commitment: commitment,
            leafHash: MerkleTree.leafHash(draft.leaf)
        )
    }

    /// The header fields. Repeated attribute names are refused by `Attributes`.
    static func envelope(_ value: JSONValue, holding: EventHolding) throws -> Envelope {
        let time = try text(value, "recordedAt")
        guard let recordedAt = Timestamp(rfc3339: time) else {
            throw Fault(description: "\"recordedAt\" is no time")
        }
        let pairs = try (value["attributes"]?.object?.members ?? []).map { member in
            guard let text = member.value.string else {
                throw Fault(description: "an attribute is no string")
            }
            return Attributes.Pair(name: member.name, value: text)
        }
        return Envelope(
            sequence: SequenceNumber(try number(value, "sequence")),
            recordedAt: recordedAt,
            source: try SourceName(try text(value, "source")),
            kind: try EventKind(try text(value, "kind")),
            key: try value["key"]?.string.map { try EventKey($0) },
            attributes: try Attributes(pairs),
            holding: holding
        )
    }

    /// The payload: text if it is UTF-8, else base64.
    static func payload(of value: JSONValue) throws -> [UInt8] {
        if let text = value["payload"]?.string { return Array(text.utf8) }
        return try bytes(value, "payloadBase64")
    }
}

// MARK: - Members

extension ExportedEvent {
    /// A member that is a string.
    static func text(_ value: JSONValue, _ name: String) throws -> String {
        guard let text = value[name]?.string else { throw Fault(description: "\"\(name)\" is missing or no string") }
        return text
    }

    /// A member that is a whole number written as a string: JSON's own numbers lose digits beyond 2^53 in many readers.
    static func number(_ value: JSONValue, _ name: String) throws -> UInt64 {
        guard let number = UInt64(try text(value, name)) else { throw Fault(description: "\"\(name)\" is no number") }
        return number
    }

    /// A member that is bytes in base64.
    static func bytes(_ value: JSONValue, _ name: String) throws -> [UInt8] {
        guard let bytes = Base64.decode(try text(value, name)) else {
            throw Fault(description: "\"\(name)\" is no base64")
        }
        return bytes
    }

    /// A member that is a hash in base64 or hex.
    static func hash(_ value: JSONValue, _ name: String) throws -> Hash256 {
        guard let hash = HashArgument.hash(try text(value, name)) else {
            throw Fault(description: "\"\(name)\" is no SHA-256 hash")
        }
        return hash
    }

    /// A member that is a list of hashes.
    static func hashes(_ value: JSONValue, _ name: String) throws -> [Hash256] {
        guard let array = value[name]?.array else { throw Fault(description: "\"\(name)\" is missing or no list") }
        return try array.map { element in
            guard let hash = element.string.flatMap(HashArgument.hash) else {
                throw Fault(description: "an element of \"\(name)\" is no SHA-256 hash")
            }
            return hash
        }
    }
}
