public import EventLog
import Kinds

/// Reads events by a decoder file without folding them, and tells which rule took each.
public struct DecoderTrial: Sendable {
    /// What became of one event.
    public struct Outcome: Sendable {
        /// The line of the rule that took the event, from 1; `nil` if none did.
        public let line: Int?
        /// Whether the event repeats one that was seen before, and so changes nothing.
        public let isRepeat: Bool
        /// The changes and issues.
        public let decoded: DecodedEvent
        /// What effects read, in order; at most 1,000 reads, and none unless they are traced.
        package let reads: [DecoderRead]
    }

    private var logState = LogState()

    /// Begins with a file that has seen nothing yet.
    public init(_ file: DecoderFile, source: SourceName) { self.init(file, source: source, traces: false) }

    /// The same; notes what effects read if `traces`.
    package init(_ file: DecoderFile, source: SourceName, traces: Bool) {
        var decoders = Decoders()
        decoders.traces = traces
        decoders[source] = file
        logState.use(decoders)
    }

    /// Reads the next event of the source. Events must come in log order.
    public mutating func read(_ envelope: Envelope, payload: UnsafeRawBufferPointer) -> Outcome {
        let decoded = logState.decode(envelope, payload: payload, tells: false)
        let memory = logState.state(of: envelope.source)?.parts.decoderFile
        return Outcome(
            line: memory?.takenLine,
            isRepeat: memory?.tookRepeat ?? false,
            decoded: decoded,
            reads: memory?.reads ?? []
        )
    }
}

extension DecoderFile {
    /// A sample whose payload gives other changes than the file says.
    public struct SampleFault: Hashable, Sendable {
        /// The sample's line in the file, from 1.
        public let line: Int
        /// What the payload gives, as the file would write it.
        public let gives: JSONValue
        /// The issues of the payload.
        public let issues: [String]
    }

    /// The number of samples.
    public var sampleCount: Int { samples.count }

    /// The samples that give other changes, in the file's order; none if all are right. Each is read by a file that has seen
    /// nothing.
    public func sampleFaults() -> [SampleFault] {
        samples.compactMap { sample in
            guard let source = try? SourceName("sample") else { return nil }
            if sample.kind.is(.clientObserved) { return observationFault(sample) }
            var trial = DecoderTrial(self, source: source)
            let envelope = Envelope(
                sequence: SequenceNumber(1),
                recordedAt: Timestamp(seconds: 0),
                source: source,
                kind: sample.kind,
                key: nil,
                attributes: sample.attributes,
                holding: .whole
            )
            let decoded = Array(sample.payload.utf8).withUnsafeBytes { trial.read(envelope, payload: $0).decoded }
            let gives = JSONValue.array(decoded.changes.map(\.json))
            return gives.isSameJSON(as: .array(sample.gives))
                ? nil : SampleFault(line: sample.line, gives: gives, issues: decoded.issues)
        }
    }

    /// The same of a sample of what a client showed: it gives the observation.
    private func observationFault(_ sample: DecoderSample) -> SampleFault? {
        var (gives, issues): ([JSONValue], [String]) = ([], [])
        do throws(DecoderFileError) {
            gives = try observation(in: Array(sample.payload.utf8), sample.attributes).map { [$0] } ?? []
        } catch {
            issues = [error.description]
        }
        return JSONValue.array(gives).isSameJSON(as: .array(sample.gives))
            ? nil : SampleFault(line: sample.line, gives: .array(gives), issues: issues)
    }
}
