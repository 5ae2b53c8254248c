import EventLog
import JSON
import Projections

/// An event in a proof, as exports write it, and the members of proofs.
enum ExportedEvent {
    /// The members of one event, as a line of an export has them.
    static func object(for event: RecordedEvent) -> JSONObject {
        var writer = ExportWriter()
        // The writer's own text is JSON, so it parses.
        return (try? JSONValue.parse(writer.line(.event(event))))?.object ?? JSONObject()
    }

    /// Reads the members of one event.
    ///
    /// - Throws: `ExportFault`, or `EventLogError` for a name beyond its limits (I3).
    static func event(_ value: JSONValue) throws -> RecordedEvent {
        var line: [UInt8] = []
        value.append(to: &line, members: .own)
        guard case .event(let event) = try ExportReader.piece(line) else { throw ExportFault("it is no event") }
        return event
    }
}

// MARK: - Members

extension ExportedEvent {
    /// A member that is a string.
    static func text(_ value: JSONValue, _ name: String) throws -> String {
        guard let text = value[name]?.string else { throw ExportFault("\"\(name)\" is missing or no string") }
        return text
    }

    /// A member that is a whole number written as a string: JSON's own numbers lose digits beyond 2^53 in many readers.
    static func number(_ value: JSONValue, _ name: String) throws -> UInt64 {
        guard let number = UInt64(try text(value, name)) else { throw ExportFault("\"\(name)\" is no number") }
        return number
    }

    /// A member that is bytes in base64.
    static func bytes(_ value: JSONValue, _ name: String) throws -> [UInt8] {
        guard let bytes = Base64.decode(try text(value, name)) else {
            throw ExportFault("\"\(name)\" is no base64")
        }
        return bytes
    }

    /// A member that is a hash in base64 or hex.
    static func hash(_ value: JSONValue, _ name: String) throws -> Hash256 {
        guard let hash = Hash256(spelled: try text(value, name)) else {
            throw ExportFault("\"\(name)\" is no SHA-256 hash")
        }
        return hash
    }

    /// A member that is a list of hashes.
    static func hashes(_ value: JSONValue, _ name: String) throws -> [Hash256] {
        guard let array = value[name]?.array else { throw ExportFault("\"\(name)\" is missing or no list") }
        return try array.map { element in
            guard let hash = element.string.flatMap(Hash256.init(spelled:)) else {
                throw ExportFault("an element of \"\(name)\" is no SHA-256 hash")
            }
            return hash
        }
    }
}
