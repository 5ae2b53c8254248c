public import EventLog
import JSON
import Kinds

/// Proposes a decoder file for payloads of an app that nobody has described yet.
///
/// It looks for objects that have what messages have, by the usual names of members and by values: ids that come once,
/// times that are plausible, texts with blanks, members that hold ids of other messages. The proposal is a guess to begin
/// with; it says what it guessed and why. The same events give the same file. Samples hold made-up values: no text, name or
/// id of a payload is in the file, only names of members, words that tell kinds of events apart, and patterns of paths.
public struct DecoderInference: Sendable {
    /// A proposed file.
    public struct Proposal: Sendable {
        /// The file, which its own samples prove.
        public let file: DecoderFile
        /// A line for each effect: the guess and its reason.
        public let reasons: [String]
    }

    /// The most events that are looked at.
    public static let eventsMax = 20_000
    /// The most bytes of payloads that are looked at.
    public static let bytesMax = 32 << 20

    /// The events that were looked at.
    public var sampledCount: Int { events.count }
    /// The events that were given.
    public private(set) var eventCount = 0
    private var byteCount = 0
    private var events: [InferenceEvent] = []

    /// Begins without events.
    public init() {}

    /// Looks at the next event of one source, if it came from the remote and is JSON. Events beyond the limits are counted.
    public mutating func add(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        guard Decoders.mayRead(envelope.kind), envelope.attributes["dir"] != "out" else { return }
        eventCount += 1
        guard events.count < Self.eventsMax, byteCount + payload.count <= Self.bytesMax else { return }
        if let status = envelope.attributes["status"], !status.hasPrefix("2") { return }
        guard let value = FileDecoder.value(envelope, payload) else { return }
        byteCount += payload.count
        events.append(InferenceEvent(kind: envelope.kind, attributes: envelope.attributes, value: value))
    }

    /// The file that the events suggest; `nil` if nothing in them looks like a message or an item. Cost: linear in the bytes
    /// that were looked at, times the groups of like events.
    ///
    /// - Parameter name: The name of the file without its version: letters, digits, `.`, `_` and `-`.
    /// - Throws: `DecoderFileError` if the proposal is no file, which is a fault of this program.
    public func proposal(name: String) throws(DecoderFileError) -> Proposal? {
        let finder = InferenceFinder(events)
        let rules = readable(finder, name)
        guard
            rules.contains(where: { $0.all.flatMap(\.effects).contains { ["message", "item"].contains($0.subject) } })
        else {
            return nil
        }
        let writer = file(of: rules, finder, name)
        let draft = try DecoderFile(writer.text(gives: [:]))
        var gives: [Int: JSONValue] = [:]
        let places = writer.sampleIndices
        let samples = draft.samples
        let faults = Dictionary(
            draft.sampleFaults().map { ($0.line, $0.gives) },
            uniquingKeysWith: { first, _ in first }
        )
        for (place, sample) in zip(places, samples) { gives[place] = faults[sample.line] }
        let file = try DecoderFile(writer.text(gives: gives))
        return Proposal(
            file: file,
            reasons: rules.flatMap { $0.all.flatMap(\.effects).map(\.reason) }.map(InferenceText.comment)
        )
    }

    private func file(of rules: [InferredRule], _ finder: InferenceFinder, _ name: String) -> InferredFile {
        InferredFile(
            name: name,
            rules: rules,
            ordersByCreation: finder.ordersByCreation,
            sampled: sampledCount,
            of: eventCount
        )
    }

    /// The first rules that a file may have, by the limits of files.
    private func readable(_ finder: InferenceFinder, _ name: String) -> [InferredRule] {
        var (rules, byteCount, stepCount): ([InferredRule], Int, Int) = ([], 0, 0)
        for rule in finder.rules.prefix(64) {
            let text = file(of: [rule], finder, name).text(gives: [:])
            let steps = rule.all.reduce(0) { $0 + 1 + $1.effects.count }
            // Half of what a file may have: what the samples give comes besides.
            guard byteCount + text.utf8.count <= 128 << 10, stepCount + steps <= 256 else { continue }
            (byteCount, stepCount) = (byteCount + text.utf8.count, stepCount + steps)
            rules.append(rule)
        }
        if isFile(rules, finder, name) { return rules }
        return rules.filter { isFile([$0], finder, name) }
    }

    /// Whether rules make a file that can be read.
    private func isFile(_ rules: [InferredRule], _ finder: InferenceFinder, _ name: String) -> Bool {
        (try? DecoderFile(file(of: rules, finder, name).text(gives: [:]))) != nil
    }
}
