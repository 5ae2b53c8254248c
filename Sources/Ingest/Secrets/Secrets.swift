import EventLog
import JSON

/// Replaces the secrets in a frame by `[redacted]` before it is appended (I14); every other byte stays as it was.
///
/// Secrets are: `d.token` of gateway frames of op 2 and 6; members named like `access_token`, `refresh_token`,
/// `apikey`, `authorization`, `ckAPIToken`, `ckWebAuthToken` anywhere; JSON Web Tokens under other names that end with
/// `token`; such parameters in URLs; the credentials of an Authorization header within a text. Names are decoded and
/// compared without case, `_` and `-`, so that an escape hides nothing. Bytes that are not JSON are searched as text;
/// there, too much is replaced rather than too little.
struct Secrets {
    /// A frame without its secrets.
    struct Redaction: Equatable {
        let bytes: [UInt8]
        /// The number of secrets replaced.
        let count: Int
    }

    /// The replacement of a secret.
    static let substitute = Array("[redacted]".utf8)

    /// Redacts a payload of a kind. Cost: one quick pass over the bytes; a full scan only if `SecretName.mayOccur`.
    static func redact(_ payload: [UInt8], kind: EventKind) -> Redaction {
        let places = payload.withUnsafeBufferPointer { bytes -> [SecretRange] in
            guard SecretName.mayOccur(in: bytes) else { return [] }
            // An event of a stream is lines, each with a field's name; only what comes behind may be JSON.
            if kind == .serverSentEvent { return placesInLines(bytes) }
            return self.places(in: bytes, isGateway: kind == .gatewayFrame).found
        }
        return replace(places, in: payload)
    }

    /// The secrets of a text that should be JSON; `isJSON` is false if it is not.
    static func places(in bytes: UnsafeBufferPointer<UInt8>, isGateway: Bool) -> (found: [SecretRange], isJSON: Bool) {
        var scan = SecretScan(bytes, isGateway: isGateway)
        do throws(JSONError) {
            return (try scan.run(), true)
        } catch {
            // The structure cannot be trusted, so secrets found in it and secrets found in the plain text both count.
            return (scan.placesSoFar + SecretText(tolerating: bytes).members(isGateway: isGateway), false)
        }
    }

    /// The secrets of an event of a stream. Each line is searched as a text of its own; if not all `data` lines are
    /// JSON, they are also searched joined.
    private static func placesInLines(_ bytes: UnsafeBufferPointer<UInt8>) -> [SecretRange] {
        var places: [SecretRange] = []
        var data = JoinedText()
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
            let isData = bytes[start..<end].starts(with: "data:".utf8)
            let textStart = isData ? start + 5 : start
            let line = UnsafeBufferPointer(rebasing: bytes[textStart..<end])
            let (found, isJSON) = line.isEmpty ? ([], true) : self.places(in: line, isGateway: false)
            places += found.map { $0.moved(by: textStart) }
            if isData { data.append(line, at: textStart, isWhole: isJSON) }
            start = end + 1
        }
        guard data.isOneText else { return places }
        let joined = data.text.withUnsafeBufferPointer { self.places(in: $0, isGateway: false).found }
        return places + joined.flatMap(data.places)
    }

    /// The bytes with each occurrence of a known token replaced. Does nothing for `nil` or an empty token.
    static func replacing(_ token: String?, in bytes: [UInt8]) -> [UInt8] {
        guard let token, !token.isEmpty else { return bytes }
        var kept: [UInt8] = []
        var rest = bytes[...]
        while let range = rest.firstRange(of: Array(token.utf8)) {
            kept += rest[..<range.lowerBound] + substitute
            rest = rest[range.upperBound...]
        }
        return kept + rest
    }

    /// Replaces the places, which may overlap and come in any order. Of a place that overlaps an earlier one, only the
    /// rest is replaced.
    private static func replace(_ places: [SecretRange], in payload: [UInt8]) -> Redaction {
        var redacted: [UInt8] = []
        var copied = 0
        var count = 0
        for place in places.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            let range = max(place.range.lowerBound, copied)..<max(place.range.upperBound, copied)
            // In a plain text the substitute's closing bracket ends a value, so the found range may be shorter than it.
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

/// Lines joined by LF, like the `data` lines of an event stream, with the place of each line in the event. A client
/// joins them in this way (HTML standard, section 9.2.6), so a JSON text may be spread over them.
private struct JoinedText {
    private(set) var text: [UInt8] = []
    /// The place of each line's beginning in the joined text, and in the event.
    private var lines: [(joined: Int, event: Int)] = []
    /// True if every line is a JSON text by itself.
    private var areWhole = true

    /// True if a JSON text may span several lines.
    var isOneText: Bool { lines.count > 1 && !areWhole }

    /// - Parameter isWhole: true if the line is a JSON text by itself.
    mutating func append(_ line: UnsafeBufferPointer<UInt8>, at place: Int, isWhole: Bool) {
        areWhole = areWhole && isWhole
        if !lines.isEmpty { text.append(0x0A) }
        lines.append((text.count, place))
        text.append(contentsOf: line)
    }

    /// The places in the event of a place in the joined text: one for each line that it overlaps.
    func places(of place: SecretRange) -> [SecretRange] {
        lines.indices.compactMap { index in
            let line = lines[index]
            // Without the LF, which is not in the event at that place.
            let end = index + 1 < lines.count ? lines[index + 1].joined - 1 : text.count
            let range = place.range.clamped(to: line.joined..<end)
            guard !range.isEmpty else { return nil }
            return SecretRange(range: range, needsQuotes: place.needsQuotes).moved(by: line.event - line.joined)
        }
    }
}

/// The place of a secret.
struct SecretRange: Equatable {
    /// The secret's bytes, counted from the payload's first byte, or from that of the text that was searched.
    let range: Range<Int>
    /// True if the substitute needs quotes to be JSON, because the secret is a number.
    var needsQuotes = false

    func moved(by offset: Int) -> SecretRange {
        SecretRange(range: range.lowerBound + offset..<range.upperBound + offset, needsQuotes: needsQuotes)
    }
}

extension FrameDraft {
    /// The event with a payload whose secrets are replaced (I14); the attribute `redacted` counts them. A payload that
    /// is too large to keep is not searched, because only its length and hash stay.
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
