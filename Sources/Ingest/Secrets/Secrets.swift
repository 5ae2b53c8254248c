import EventLog
import JSON
import Kinds

/// Replaces the secrets in a frame by `[redacted]` before it is appended (I14); every other byte stays as it was.
///
/// `docs/events.md` lists what is a secret by its name or form. Names are decoded and compared without case, `_`, `-`,
/// `.` and spaces, so that an escape hides nothing. Bytes that are not JSON are searched as text; there, too much is
/// replaced rather than too little. The tokens that a recorder uses itself are replaced by `KnownSecrets`.
struct Secrets {
    /// A frame without its secrets.
    struct Redaction: Equatable {
        let bytes: [UInt8]
        /// The number of secrets replaced.
        let count: Int
    }

    /// The replacement of a secret.
    static let substitute = Array("[redacted]".utf8)

    /// Redacts a payload of a kind. Cost: one quick pass over the bytes; a full scan only if `SecretName.mayOccur`, or if
    /// the user declared rules.
    static func redact(_ payload: [UInt8], kind: EventKind, rules: SecretRules = .common) -> Redaction {
        guard !rules.own.isEmpty || payload.withUnsafeBufferPointer({ SecretName.mayOccur(in: $0) }) else {
            return Redaction(bytes: payload, count: 0)
        }
        let form = PayloadForm(payload)
        guard case .utf16(let text) = form else {
            let places = payload.withUnsafeBufferPointer { self.places(in: $0, form, kind: kind, rules) }
            return replace(places, in: payload, form)
        }
        let places = text.bytes.withUnsafeBufferPointer { self.places(in: $0, .text, kind: kind, rules) }
        return replace(unreplaced(places, in: text.bytes, form).map(text.place), in: payload, form)
    }

    /// A URL, or the end of one, without the secrets of its query.
    static func redact(address: [UInt8], _ rules: SecretRules) -> [UInt8] {
        let places = address.withUnsafeBufferPointer { SecretText(tolerating: $0).secrets(rules) }
        return replace(places, in: address, .text).bytes
    }

    /// The secrets of a payload by their names and forms.
    private static func places(
        in bytes: UnsafeBufferPointer<UInt8>,
        _ form: PayloadForm,
        kind: EventKind,
        _ rules: SecretRules
    ) -> [SecretRange] {
        // An event of a stream is lines, each with a field's name; only what comes behind may be JSON.
        if kind == .serverSentEvent { return placesInLines(bytes, rules) }
        let isGateway = kind == .gatewayFrame || kind.is(.socketFrame)
        guard case .binary = form else { return places(in: bytes, isGateway: isGateway, rules).found }
        return SecretText(tolerating: bytes).members(isGateway: isGateway, rules) + BinarySecrets(bytes, rules).places()
    }

    /// The secrets of a text that should be JSON; `isJSON` is false if it is not.
    private static func places(
        in bytes: UnsafeBufferPointer<UInt8>,
        isGateway: Bool,
        _ rules: SecretRules
    ) -> (found: [SecretRange], isJSON: Bool) {
        var scan = SecretScan(bytes, isGateway: isGateway, rules: rules)
        do throws(JSONError) {
            return (try scan.run(), true)
        } catch {
            // The structure cannot be trusted, so secrets found in it and secrets found in the plain text both count.
            return (scan.placesSoFar + SecretText(tolerating: bytes).members(isGateway: isGateway, rules), false)
        }
    }

    /// The secrets of an event of a stream. Each line is searched as a text of its own; if not all `data` lines are
    /// JSON, they are also searched joined.
    private static func placesInLines(_ bytes: UnsafeBufferPointer<UInt8>, _ rules: SecretRules) -> [SecretRange] {
        var places: [SecretRange] = []
        var data = JoinedText()
        var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
            let isData = bytes[start..<end].starts(with: "data:".utf8)
            let textStart = isData ? start + 5 : start
            let line = UnsafeBufferPointer(rebasing: bytes[textStart..<end])
            let (found, isJSON) = line.isEmpty ? ([], true) : self.places(in: line, isGateway: false, rules)
            places += found.map { $0.moved(by: textStart) }
            if isData { data.append(line, at: textStart, isWhole: isJSON) }
            start = end + 1
        }
        guard data.isOneText else { return places }
        let joined = data.text.withUnsafeBufferPointer { self.places(in: $0, isGateway: false, rules).found }
        return places + joined.flatMap(data.places)
    }

    /// Replaces places, which may overlap and come in any order.
    static func replace(_ places: [SecretRange], in payload: [UInt8], _ form: PayloadForm) -> Redaction {
        var redacted: [UInt8] = []
        var copied = 0
        var count = 0
        for place in unreplaced(places, in: payload, form) {
            redacted += payload[copied..<place.range.lowerBound]
            redacted += form.substitute(for: place)
            copied = place.range.upperBound
            count += 1
        }
        guard count > 0 else { return Redaction(bytes: payload, count: 0) }
        redacted += payload[copied...]
        return Redaction(bytes: redacted, count: count)
    }

    /// The places without those that are replaced already, ascending. Of a place that overlaps an earlier one, only the
    /// rest counts.
    private static func unreplaced(_ places: [SecretRange], in payload: [UInt8], _ form: PayloadForm) -> [SecretRange] {
        var end = 0
        return places.sorted { $0.range.lowerBound < $1.range.lowerBound }.compactMap { place in
            let range = max(place.range.lowerBound, end)..<max(place.range.upperBound, end)
            guard !range.isEmpty, !form.isSubstitute(payload[range.lowerBound...], count: range.count) else {
                return nil
            }
            end = range.upperBound
            return SecretRange(range: range, quoteDepth: place.quoteDepth)
        }
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
            return SecretRange(range: range, quoteDepth: place.quoteDepth).moved(by: line.event - line.joined)
        }
    }
}

/// The place of a secret.
struct SecretRange: Equatable {
    /// The secret's bytes, counted from the payload's first byte, or from that of the text that was searched.
    let range: Range<Int>
    /// The number of strings that the secret lies in, if the substitute needs quotes to be JSON, because the secret is a
    /// number; `nil` if it needs none.
    var quoteDepth: Int?

    func moved(by offset: Int) -> SecretRange {
        SecretRange(range: range.lowerBound + offset..<range.upperBound + offset, quoteDepth: quoteDepth)
    }
}
