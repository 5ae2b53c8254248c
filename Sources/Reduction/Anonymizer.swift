import EventLog
import Kinds
import Projections

/// Replaces what could reveal whose log it was: sources' names, words, ids and times in payloads, keys and attributes,
/// and names of members that no format has.
///
/// What stays is told, always (`KeptTexts`). It promises nothing about what can be guessed from structure.
package enum Anonymizer {
    /// The replaced events and what stays.
    package struct Result: Sendable {
        let events: [CandidateEvent]
        /// The substitutes, by which other texts can be replaced in the same way.
        let substitutes: Substitutes
        /// The classes of texts that stay, because the answer depends on them.
        package let kept: Set<TextClass>
        /// All that stays, by class.
        package let texts: [KeptTexts]
        /// How many different words and ids were replaced.
        package let replacedCount: Int
    }

    /// What is asked of replaced events.
    struct Demand {
        /// Texts that the answer may depend on, such as those that a test names, and where the log has such texts.
        var texts: [PlacedText] = []
        /// Names of members that the question names, which stay.
        var members: Set<String> = []
        /// The decoder files of the sources. What they compare payloads with stays.
        var decoders = Decoders()
        /// Whether the replaced events will do.
        let holds: ([CandidateEvent], Substitutes) throws -> Bool
    }

    /// The classes that stay, in order of preference: what says little stays before what says much.
    private static let fallbacks: [Set<TextClass>] = [
        [], [.terms], [.names], [.terms, .names], [.times], [.terms, .times], [.terms, .names, .times],
        [.terms, .names, .ids], [.terms, .names, .ids, .times], [.terms, .names, .words],
        [.terms, .names, .words, .times],
        [.terms, .names, .words, .ids],
    ]

    /// Replaces as many classes of texts as the demand allows.
    ///
    /// - Returns: `nil` if nothing can be replaced.
    /// - Throws: what the demand throws; `EventLogError` if a replaced key or attribute breaks a limit.
    static func run(_ events: [CandidateEvent], _ demand: Demand) throws -> Result? {
        // In the order of the events, so that the same log gives the same substitutes.
        let ordered = distinctTexts(of: events, demand.decoders)
        let named = Set(demand.texts.flatMap { words($0.text) })
        let files = demand.decoders.words
        for kept in fallbacks {
            let attempt = Attempt(events: events, texts: ordered, demand: demand, files: files, kept: kept)
            if let result = try attempt.result(named: []) { return result }
            guard !named.isEmpty, !kept.contains(.words), var result = try attempt.result(named: named) else {
                continue
            }
            // Of the words that the test names only those stay on which the answer depends.
            var needed = named
            for word in named.sorted() {
                guard let smaller = try attempt.result(named: needed.subtracting([word])) else { continue }
                needed.remove(word)
                result = smaller
            }
            return result
        }
        return nil
    }

    private static func distinctTexts(of events: [CandidateEvent], _ decoders: Decoders) -> [PlacedText] {
        var seen: Set<PlacedText> = []
        return events.flatMap { event in
            texts(of: event.draft, isOfFile: decoders.readsByFile(event.draft)).filter { seen.insert($0).inserted }
        }
    }

    /// One choice of what stays.
    private struct Attempt {
        let events: [CandidateEvent]
        let texts: [PlacedText]
        let demand: Demand
        let files: DecoderWords
        let kept: Set<TextClass>

        /// The replaced events, if the demand allows them and nothing replaced is left.
        ///
        /// - Parameter named: Words of the demand's texts that stay.
        func result(named: Set<String>) throws -> Result? {
            let substitutes = Substitutes(
                for: texts,
                fragments: demand.texts,
                earliest: events.map(\.draft.recordedAt).min() ?? Timestamp(seconds: 0),
                classes: Set(TextClass.allCases).subtracting(kept),
                named: named,
                members: demand.members,
                files: files
            )
            var stays: [Substitutes.Reason: Set<String>] = [:]
            let replaced = try events.map { event in
                let isOfFile = demand.decoders.readsByFile(event.draft)
                return try replace(event, by: substitutes, isOfFile: isOfFile) { stays[$1, default: []].insert($0) }
            }
            guard try demand.holds(replaced, substitutes),
                remains(of: substitutes, in: replaced, beside: Set(stays.values.joined())).isEmpty
            else { return nil }
            return Result(
                events: replaced,
                substitutes: substitutes,
                kept: kept,
                texts: KeptTexts.all(of: replaced, stays, kept, demand.decoders),
                replacedCount: substitutes.count
            )
        }
    }

    /// The replaced words of more than three letters that a replaced event still contains anywhere, as a whole or within
    /// another word.
    ///
    /// - Parameter kept: Words that stay where they mean something, though they are replaced elsewhere.
    static func remains(of substitutes: Substitutes, in events: [CandidateEvent], beside kept: Set<String>) -> [String]
    {
        let replaced = substitutes.replacedWords
        let exempt = Set(kept.flatMap(words))
        var seen: Set<String> = []
        var found: Set<String> = []
        for event in events {
            let draft = event.draft
            let texts = [
                String(decoding: draft.payload, as: UTF8.self), draft.key?.rawValue ?? "", draft.source.rawValue,
            ]
            for word in (texts + draft.attributes.pairs.map(\.value)).flatMap(words) where seen.insert(word).inserted {
                guard !exempt.contains(word) else { continue }
                found.formUnion(Substitutes.parts(of: word).map { String($0) }.filter(replaced.contains))
            }
        }
        return found.sorted()
    }

    /// The words of a text, in lower case.
    static func words(_ text: String) -> [String] {
        TextPiece.pieces(of: text).compactMap { if case .word(let word) = $0 { word.lowercased() } else { nil } }
    }

    // MARK: - Events

    /// All texts of an event that `map` would replace, in order.
    private static func texts(of draft: DraftEvent, isOfFile: Bool) -> [PlacedText] {
        var texts: [PlacedText] = []
        // Texts that stay as they are break no limit.
        _ = try? map(draft, isOfFile: isOfFile) { text, place in
            texts.append(PlacedText(text, place))
            return text
        }
        return texts
    }

    private static func replace(
        _ event: CandidateEvent,
        by substitutes: Substitutes,
        isOfFile: Bool,
        note: (String, Substitutes.Reason) -> Void
    ) throws -> CandidateEvent {
        var draft = try map(event.draft, isOfFile: isOfFile) { substitutes.replace($0, at: $1, note: note) }
        draft.recordedAt = Timestamp(
            microseconds: draft.recordedAt.microseconds + Int64(substitutes.dayShift) * 86_400_000_000
        )
        return CandidateEvent(place: event.place, origin: event.origin, draft: draft)
    }

    /// The event with every text put through `body`: source, payload, key and attribute values.
    ///
    /// - Parameter isOfFile: Whether a decoder file reads the event.
    private static func map(_ draft: DraftEvent, isOfFile: Bool, _ body: (String, TextPlace) -> String) throws
        -> DraftEvent
    {
        var result = draft
        result.source = try SourceName(body(draft.source.rawValue, .text))
        let isOfAnyApp = EventFamily(kind: draft.kind) == .generic || isOfFile
        result.payload = Payload(of: draft).mapping(isOfAnyApp: isOfAnyApp, body).bytes
        result.key = try draft.key.map { try EventKey(body($0.rawValue, .constant)) }
        result.attributes = try Attributes(
            draft.attributes.pairs.map { pair in
                Attributes.Pair(name: pair.name, value: body(pair.value, TextPlace(ofAttribute: pair.name)))
            }
        )
        return result
    }
}

/// What stays of one class in a log whose texts were replaced.
package struct KeptTexts: Sendable {
    /// The class, such as `constants`.
    package let name: String
    /// What it holds, in a few words.
    package let about: String
    /// The texts, sorted; `nil` for a class that is told in words alone.
    package let texts: [String]?

    /// All classes of which something stays, those first that stay in every log.
    static func all(
        of events: [CandidateEvent],
        _ stays: [Substitutes.Reason: Set<String>],
        _ kept: Set<TextClass>,
        _ decoders: Decoders
    ) -> [KeptTexts] {
        let files = Set(decoders.sources.compactMap { decoders[$0]?.name }).sorted()
        func texts(_ reason: Substitutes.Reason) -> [String] { (stays[reason] ?? []).sorted() }
        let attributes = Set(events.flatMap { $0.draft.attributes.pairs.map(\.name) }).sorted()
        let all = [
            KeptTexts(name: "kinds", about: "of events", texts: Set(events.map(\.draft.kind.rawValue)).sorted()),
            KeptTexts(name: "attributes", about: "their names", texts: attributes),
            KeptTexts(
                name: "members",
                about: "names that the apps' formats or decoder files have",
                texts: texts(.member)
            ),
            KeptTexts(name: "constants", about: "words of the protocols, in their places", texts: texts(.constant)),
            KeptTexts(name: "paths", about: "words of routes and addresses, extensions of files", texts: texts(.path)),
            KeptTexts(
                name: "numbers",
                about: "of fewer than five digits; as JSON numbers, of fewer than eight, and fractions",
                texts: nil
            ),
            KeptTexts(name: "hours", about: "times of the day, zones, and how far apart times are", texts: nil),
            KeptTexts(name: "signs", about: "punctuation, emoji, true and false, single Latin letters", texts: nil),
            KeptTexts(name: "files", about: "words that decoder files have", texts: texts(.file)),
            KeptTexts(name: "decoders", about: "whole files, with their samples and comments", texts: files),
            KeptTexts(name: "test", about: "words that the test names and the answer depends on", texts: texts(.test)),
            KeptTexts(name: "terms", about: "words of the protocols within texts", texts: texts(.term)),
        ]
        let needed = TextClass.allCases.filter { kept.contains($0) && $0 != .terms }.map {
            KeptTexts(name: $0.rawValue, about: "the answer depends on them", texts: nil)
        }
        return all.filter { $0.texts?.isEmpty != true } + needed
    }
}

extension Decoders {
    /// Whether the rules of a decoder file read an event.
    fileprivate func readsByFile(_ draft: DraftEvent) -> Bool {
        Self.mayRead(draft.kind) && rules(of: draft.source) != nil
    }
}

extension Anonymizer {
    /// Refuses events of sources that a registered decoder reads, or a file that this program cannot read: what must stay in
    /// their payloads is known there alone.
    ///
    /// - Parameter operation: The operation's name in the error.
    static func refuse(_ decoders: Decoders, of events: [CandidateEvent], _ operation: String) throws {
        let read = events.first {
            decoders.rules(of: $0.draft.source) == nil && decoders.reads($0.draft.kind, of: $0.draft.source)
        }
        guard let source = read?.draft.source else { return }
        throw EngineError(
            "\(operation): source \(source) is read by a registered decoder, or by a file that cannot be read, and which of its "
                + "words must stay is not known; nothing was written",
            code: .no
        )
    }
}
