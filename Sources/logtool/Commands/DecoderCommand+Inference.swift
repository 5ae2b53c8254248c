import EventLog
import Ingest
import JSON
import Kinds
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `logtool decoder infer`.
extension DecoderCommand {
    /// Proposes a decoder file for a capture or for a source of a log.
    ///
    /// - Throws: `Failure` with exit code 1 if nothing looks like messages.
    func infer(_ path: String) throws {
        // A log is a folder; what is missing is refused by the reader of captures.
        let isLog = (try? Folder(at: path)) != nil
        if isLog, site != nil { throw Failure("infer a decoder from \"\(path)\": --site goes with a HAR file") }
        let found = try isLog ? sampleOfLog(path) : sampleOfFile(path)
        guard let proposal = try found.inference.proposal(name: Self.name(of: found.source)) else {
            throw Failure(
                "infer a decoder of source \(found.source): none of \(found.inference.sampledCount) payloads has objects with an "
                    + "id, a text, and an author or a time; write a file by hand: docs/decoders.md",
                exitCode: Outcome.no
            )
        }
        guard proposal.file.sampleFaults().isEmpty else {
            throw Failure("infer a decoder of source \(found.source): its own samples fail; this is a fault of logtool")
        }
        try write(proposal, found)
    }

    private typealias Sample = (source: SourceName, inference: DecoderInference)

    private func write(_ proposal: DecoderInference.Proposal, _ found: Sample) throws {
        let (sampled, count) = (found.inference.sampledCount, found.inference.eventCount)
        if !output.quiet {
            StandardError.line("logtool: looked at \(sampled) of \(count) events of source \(found.source)")
            for reason in proposal.reasons { StandardError.line("logtool: \(DisplayText.escaped(reason))") }
        }
        let standard = output.standardOutput
        if let target {
            let file = try OutputFile(target, overwrites: nil)
            try file.add(Array(proposal.file.text.utf8))
            try file.finish()
        }
        if document.json {
            try standard.line(
                JSONValue.object([
                    "source": .string(found.source.rawValue), "decoder": .string(proposal.file.name),
                    "sampled": .int(sampled), "events": .int(count),
                    "reasons": .array(proposal.reasons.map { .string($0) }), "file": .string(proposal.file.text),
                ])
                .lines
            )
        } else if target == nil {
            try standard.write(proposal.file.text.utf8)
        }
        try standard.flush()
    }

    /// The name of the proposed file: the source's, of the characters that names of files have.
    private static func name(of source: SourceName) -> String {
        let name = source.rawValue.utf8.prefix(48).map { byte -> UInt8 in
            let isFit = (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            return isFit || byte == 0x2e || byte == 0x5f ? byte : 0x2d
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// The events of the one source of a log that a decoder file may read, or of the one that `--source` names.
    private func sampleOfLog(_ path: String) throws -> Sample {
        try sample(of: try LogOptions.open(path, isQuiet: output.quiet), named: path)
    }

    private func sample(of store: EventStore, named path: String) throws -> Sample {
        try store.read { session in
            let kinds = try session.kindsBySource().filter { $0.value.contains(where: Decoders.mayRead) }
            let fit = kinds.keys.filter { source == nil || $0.rawValue == source }.sorted()
            guard let only = fit.first, fit.count == 1 else {
                let known = kinds.keys.sorted().map(\.rawValue).joined(separator: ", ")
                throw Failure(
                    fit.isEmpty
                        ? "infer a decoder from \"\(path)\": it has no\(source.map { " source \($0) with" } ?? "") payloads that a "
                            + "decoder file reads\(known.isEmpty ? "" : "; sources with such payloads: \(known)")"
                        : "infer a decoder from \"\(path)\": choose one with --source: \(known)"
                )
            }
            var inference = DecoderInference()
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                if event.source == only {
                    let envelope = event.envelope
                    event.withPayload { inference.add(envelope, payload: $0) }
                }
                return true
            }
            return (only, inference)
        }
    }

    /// The events of a capture or a HAR file, as a log has them that is made for this and removed again.
    private func sampleOfFile(_ path: String) throws -> Sample {
        let scratch = try ScratchFolder(in: FileManager.default.temporaryDirectory.path)
        let base = path.split(separator: "/").last.map(String.init) ?? "app"
        let name = try SourceName(source ?? Self.name(of: try SourceName(String(base.prefix { $0 != "." }))))
        let store = try EventStore.openOrCreate(at: scratch.path + "/capture.eventlog")
        if path.hasSuffix(".har") {
            let isQuiet = output.quiet
            let har = HARSource(path: path, kind: .raw, site: site, name: name) { text in
                if !isQuiet { StandardError.line(DisplayText.escaped("logtool: \(text)")) }
            }
            _ = try Recorder.record(har, into: store)
        } else {
            if site != nil { throw Failure("infer a decoder from \"\(path)\": --site goes with a HAR file") }
            _ = try Recorder.record(CaptureSource(path: path, kind: .ws, name: name), into: store)
        }
        let inference = try sample(of: store, named: path).inference
        return (name, inference)
    }
}
