import EventLog

/// Replaces the secrets in a frame by `[redacted]` before it is appended (C2); every other byte stays as it was.
///
/// Replaced are: `d.token` of gateway frames of op 2 and 6; members named like `access_token`, `refresh_token`,
/// `apikey`, `authorization`, `ckAPIToken`, `ckWebAuthToken` anywhere, and JSON Web Tokens under other names that end
/// with `token`; such parameters in URLs; the credentials of an Authorization header within a text. Names compare
/// without case, `_` and `-`, and as decoded, so that an escape in a name hides nothing. What is no JSON is searched as
/// text, and rather too much is replaced than too little.
struct Secrets {
    /// A frame without its secrets.
    struct Redaction: Equatable {
        let bytes: [UInt8]
        /// The number of secrets replaced.
        let count: Int
    }

    /// What stands in a secret's place.
    static let substitute = Array("[redacted]".utf8)

    /// Redacts a payload of a kind. Cost: one pass over the bytes, a second one if a word speaks of secrets.
    static func redact(_ payload: [UInt8], kind: EventKind) -> Redaction {
        let places = payload.withUnsafeBufferPointer { bytes -> [SecretPlace] in
            guard SecretName.mayOccur(in: bytes) else { return [] }
            if kind == .serverSentEvent { return placesInLines(bytes) }
            return self.places(in: bytes, at: 0, isGateway: kind == .gatewayFrame)
        }
        return replace(places, in: payload)
    }

    /// The secrets of one JSON text, or of what should be one.
    static func places(in bytes: UnsafeBufferPointer<UInt8>, at offset: Int, isGateway: Bool) -> [SecretPlace] {
        var scan = SecretScan(bytes, isGateway: isGateway)
        let found: [SecretPlace]
        do throws(JSONFault) {
            found = try scan.run()
        } catch {
            // The structure cannot be trusted any more: what was found in it and what the text shows are both taken.
            found = scan.placesSoFar + SecretText(tolerating: bytes).members(isGateway: isGateway)
        }
        return offset == 0 ? found : found.map { $0.moved(by: offset) }
    }

    /// The secrets of an event of a stream, whose `data` lines are JSON texts of their own.
    private static func placesInLines(_ bytes: UnsafeBufferPointer<UInt8>) -> [SecretPlace] {
        var places: [SecretPlace] = []
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
            let isData = bytes[start..<end].starts(with: "data:".utf8)
            let textStart = isData ? start + 5 : start
            let line = UnsafeBufferPointer(rebasing: bytes[textStart..<end])
            if !line.isEmpty { places += self.places(in: line, at: textStart, isGateway: false) }
            start = end + 1
        }
        return places
    }

    private static func replace(_ places: [SecretPlace], in payload: [UInt8]) -> Redaction {
        var redacted: [UInt8] = []
        var copied = 0
        var count = 0
        for place in places.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            let range = max(place.range.lowerBound, copied)..<max(place.range.upperBound, copied)
            // In a text the substitute's closing bracket already ends a value.
            let isReplaced = range.count <= substitute.count && payload[range.lowerBound...].starts(with: substitute)
            guard !range.isEmpty, !isReplaced else { continue }
            redacted += payload[copied..<range.lowerBound]
            redacted += place.needsQuotes ? [0x22] + substitute + [0x22] : substitute
            copied = range.upperBound
            count += 1
        }
        guard count > 0 else { return Redaction(bytes: payload, count: 0) }
        redacted += payload[copied...]
        return Redaction(bytes: redacted, count: count)
    }
}

/// Where a secret stands.
struct SecretPlace: Equatable {
    let range: Range<Int>
    /// Whether the substitute needs quotes to be JSON: a number stood there.
    var needsQuotes = false

    func moved(by offset: Int) -> SecretPlace {
        SecretPlace(range: range.lowerBound + offset..<range.upperBound + offset, needsQuotes: needsQuotes)
    }
}

extension FrameDraft {
    /// The event with a payload whose secrets are replaced; the attribute `redacted` counts them.
    func redacted(payload: [UInt8]) throws -> DraftEvent {
        guard payload.count <= EnvelopeLimits.payloadBytesMax else { return try draft(payload: payload) }
        let redaction = Secrets.redact(payload, kind: kind)
        guard redaction.count > 0 else { return try draft(payload: payload) }
        var frame = self
        let redacted = Attributes.Pair(name: "redacted", value: String(redaction.count))
        frame.attributes = try Attributes(attributes.pairs + [redacted])
        return try frame.draft(payload: redaction.bytes)
    }
}
