import EventLog
import Projections

/// Replaces what could reveal whose log it was: words, ids and times in payloads, keys and attributes.
///
/// Structure stays: kinds, sources, member names, numbers of fewer than five digits (as JSON numbers, of fewer than
/// eight), and the protocols' words (`ProtocolWords`). It promises nothing about what can be guessed from structure.
package enum Anonymizer {
    /// The replaced events and what stays.
    package struct Result: Sendable {
        let events: [CandidateEvent]
        /// The test, with the same replacements in the texts that it names.
        package let test: InterestTest
        /// The classes of texts that stay, because replacing them would change the answer.
        package let kept: Set<TextClass>
        /// Words that stay because the test names them.
        package let keptWords: [String]
    }

    /// Replaces as many classes of texts as the test allows. The test must still hold for all events; if they are
    /// minimal, it must also fail without any one of them.
    ///
    /// - Returns: `nil` if nothing can be replaced.
    /// - Throws: what the test throws; `EventLogError` if a replaced key or attribute breaks a limit.
    static func run(_ events: [CandidateEvent], _ test: InterestTest, isMinimal: Bool) throws -> Result? {
        let all = Set(TextClass.allCases)
        let named = Set(test.texts.flatMap(words))
        // In order of preference: times stay before ids, ids before words.
        let fallbacks: [Set<TextClass>] = [
            [], [.times], [.ids], [.ids, .times], [.words], [.words, .times], [.words, .ids],
        ]
        // Words that the test names are replaced in the first attempt, together with the test, and kept in all others.
        let attempts = [(all, Set<String>())] + fallbacks.map { (all.subtracting($0), named) }
        let issues = try test.issues(of: Candidate(events)).count
        for (classes, keptWords) in attempts {
            let substitutes = Substitutes(
                for: texts(of: events) + test.texts,
                earliest: events.map(\.draft.recordedAt).min() ?? Timestamp(seconds: 0),
                classes: classes,
                kept: keptWords.union(ProtocolWords.all).union(events.flatMap { words($0.draft.source.rawValue) })
            )
            let replaced = try events.map { try replace($0, by: substitutes) }
            let asked = test.naming(substitutes.replace)
            guard try asked.isInteresting(Candidate(replaced)),
                // Replacing must not make payloads undecodable.
                try asked.issues(of: Candidate(replaced)).count <= issues,
                remains(of: substitutes, in: replaced).isEmpty, try !isMinimal || isEachNeeded(replaced, asked)
            else { continue }
            return Result(
                events: replaced,
                test: asked,
                kept: all.subtracting(classes),
                keptWords: keptWords.sorted()
            )
        }
        return nil
    }

    /// True if the test fails without any one event.
    private static func isEachNeeded(_ events: [CandidateEvent], _ test: InterestTest) throws -> Bool {
        guard events.count > 1 else { return true }
        return try events.indices.allSatisfy { index in
            var smaller = events
            smaller.remove(at: index)
            return try !test.isInteresting(Candidate(smaller))
        }
    }

    /// The replaced words of more than three letters that a payload, key or attribute still contains, as a whole or
    /// within another word.
    static func remains(of substitutes: Substitutes, in events: [CandidateEvent]) -> [String] {
        let left = texts(of: events).flatMap { text in
            TextPiece.pieces(of: text).compactMap { piece -> String? in
                if case .word(let word) = piece, !ProtocolWords.all.contains(word.lowercased()) {
                    word.lowercased()
                } else {
                    nil
                }
            }
        }
        let found = Set(left)
        return substitutes.replacedWords.filter { word in found.contains { $0.contains(word) } }
    }

    /// The words of a text, in lower case.
    static func words(_ text: String) -> [String] {
        TextPiece.pieces(of: text).compactMap { if case .word(let word) = $0 { word.lowercased() } else { nil } }
    }

    // MARK: - Events

    /// All texts that `map` would replace.
    private static func texts(of events: [CandidateEvent]) -> [String] {
        var texts: [String] = []
        for event in events {
            _ = try? map(event.draft) { text in
                texts.append(text)
                return text
            }
        }
        return texts
    }

    private static func replace(_ event: CandidateEvent, by substitutes: Substitutes) throws -> CandidateEvent {
        var draft = try map(event.draft, substitutes.replace)
        draft.recordedAt = Timestamp(
            microseconds: draft.recordedAt.microseconds + Int64(substitutes.dayShift) * 86_400_000_000
        )
        return CandidateEvent(place: event.place, origin: event.origin, draft: draft)
    }

    /// The event with every text put through `body`: payload, key and attribute values.
    private static func map(_ draft: DraftEvent, _ body: (String) -> String) throws -> DraftEvent {
        var result = draft
        result.payload = Payload(of: draft).mapping(body).bytes
        result.key = try draft.key.map { try EventKey(body($0.rawValue)) }
        result.attributes = try Attributes(
            draft.attributes.pairs.map { pair in
                let isKept = ProtocolWords.attributesKept.contains(pair.name)
                return Attributes.Pair(name: pair.name, value: isKept ? pair.value : body(pair.value))
            }
        )
        return result
    }
}

/// Words of the apps' protocols, which identify nobody. Replacing them would make events mean something else.
enum ProtocolWords {
    /// Attributes that recorders fill with fixed words.
    static let attributesKept: Set<String> = [
        "dir", "link", "op", "code", "reason", "gap", "status", "connection", "table", "type", "level", "of",
        "redacted",
        "encoded", "content-type", "content-encoding", "last", "page",
    ]

    /// Members whose values are constants. Everything below such a member stays, too.
    static let membersKept: Set<String> = [
        "t", "op", "event", "topic", "type", "schema", "table", "status", "state", "columns", "errors", "extension",
        "ref",
        "join_ref", "recordType", "notification_type", "reason", "closes", "mode", "encoding",
    ]

    /// Words that stay everywhere, in lower case.
    static let all: Set<String> = Set(
        """
        http https www com gmt utc true false null undefined nan redacted
        mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec coordinated universal time
        tmp vibestatus prompt json md github issues pull assets gitkeep realtime public phoenix
        idle working needs input open closed blocked progress done
        from date to reply edited deleted tags files images attachments title subject
        id data event retry
        """.split(whereSeparator: \.isWhitespace).map(String.init)
    )
}
