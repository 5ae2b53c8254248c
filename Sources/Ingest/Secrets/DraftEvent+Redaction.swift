public import EventLog
import JSON
import Kinds

extension FrameDraft {
    /// The event with a payload whose secrets are replaced (I14); the attribute `redacted` counts them. A payload that
    /// is too large to keep is not searched, because only its length and hash stay.
    func redacted(payload: [UInt8]) throws -> DraftEvent {
        guard payload.count <= EnvelopeLimits.payloadBytesMax else { return try draft(payload: payload) }
        var rules = SecretRules.common
        rules.tokenIsSecret = EventFamily(kind: kind) == .generic && attributes["dir"] == "out"
        let redaction = Secrets.redact(payload, kind: kind, rules: rules)
        guard redaction.count > 0 else { return try draft(payload: payload) }
        var frame = self
        let redacted = Attributes.Pair(name: "redacted", value: String(redaction.count))
        frame.attributes = try Attributes(attributes.pairs + [redacted])
        return try frame.draft(payload: redaction.bytes)
    }
}

extension RedactionRules {
    /// The event without what the rules declare, in its payload and in the query of its attribute `path`.
    public func redacted(_ draft: DraftEvent) throws -> DraftEvent {
        guard !isEmpty, draft.kind != .recorderGap, draft.kind != .recorderOversize else { return draft }
        let rules = rules(for: draft.kind)
        let redaction = Secrets.redact(draft.payload, kind: draft.kind, rules: rules)
        return try draft.redacted(redaction) { name, value in
            guard name == "path", draft.kind != .statusFile else { return value }
            return String(decoding: Secrets.redact(address: Array(value.utf8), rules), as: UTF8.self)
        }
    }

    /// The content of a status file as an event holds it.
    @Sendable func redactedStatus(_ content: [UInt8]) -> [UInt8] {
        let common = Secrets.redact(content, kind: .statusFile).bytes
        return isEmpty ? common : Secrets.redact(common, kind: .statusFile, rules: rules(for: .statusFile)).bytes
    }

    /// Commits are documents of this program's own, in which nothing but a user's rules applies.
    private func rules(for kind: EventKind) -> SecretRules {
        SecretRules(own: self, hasCommon: kind != .gitCommit && kind != .gitRewrite)
    }
}

extension DraftEvent {
    /// The event with another payload and with values of attributes changed; `redacted` counts what was replaced in
    /// both.
    fileprivate func redacted(
        _ redaction: Secrets.Redaction,
        attribute: (_ name: String, _ value: String) -> String
    ) throws -> DraftEvent {
        var draft = self
        draft.payload = redaction.bytes
        var count = redaction.count
        var pairs = attributes.pairs.map { pair in
            let value = attribute(pair.name, pair.value)
            if value != pair.value { count += 1 }
            return Attributes.Pair(name: pair.name, value: value)
        }
        guard count > 0 else { return self }
        let before = attributes["redacted"].flatMap { Int($0) } ?? 0
        pairs.removeAll { $0.name == "redacted" }
        pairs.append(Attributes.Pair(name: "redacted", value: String(before + count)))
        draft.attributes = try Attributes(pairs)
        return draft
    }
}

#if Recorders
extension TokenSearch {
    /// The event with every token replaced, in its payload and in its attributes.
    fileprivate func redacted(_ draft: DraftEvent) throws -> DraftEvent {
        let redaction = redacted(payload: draft.payload)
        return try draft.redacted(redaction) { _, value in
            String(decoding: redacted(payload: Array(value.utf8)).bytes, as: UTF8.self)
        }
    }

    /// A payload with every token replaced.
    private func redacted(payload: [UInt8]) -> Secrets.Redaction {
        let form = PayloadForm(payload)
        if case .utf16(let text) = form {
            let places = text.bytes.withUnsafeBytes { self.places(in: $0) }
            return Secrets.replace(places.map { text.place(SecretRange(range: $0)) }, in: payload, form)
        }
        let places = payload.withUnsafeBytes { self.places(in: $0) }
        let plain = Secrets.replace(places.map { SecretRange(range: $0) }, in: payload, form)
        guard plain.count > 0, case .text = form else { return plain }
        // A token of digits may be a number of a JSON text, which needs quotes to stay one.
        let numbers = payload.withUnsafeBufferPointer { SecretScan.numbers(in: $0) }
        guard places.contains(where: { place in numbers.contains { $0.overlaps(place) } }) else { return plain }
        let quoted = places.map { place in
            numbers.first { $0.overlaps(place) }.map { SecretRange(range: $0, quoteDepth: 0) }
                ?? SecretRange(range: place)
        }
        return Secrets.replace(quoted, in: payload, form)
    }
}

extension SourceBatch {
    /// Replaces the tokens of the recorder and what the user declared (I14). A bookmark that holds a token is not kept.
    ///
    /// Cost without a token in the batch: a look at a part of its bytes.
    mutating func redact(_ secrets: KnownSecrets, _ rules: RedactionRules) throws {
        if !rules.isEmpty { try changeDrafts { try rules.redacted($0) } }
        guard let search = secrets.search else { return }
        if drafts.contains(where: { search.occurs(in: $0) }) { try changeDrafts { try search.redacted($0) } }
        removeMarks { bookmark in bookmark.withUnsafeBytes { search.occurs(in: $0) } }
    }
}
#endif
