import EventLog
import Foundation

/// How many bytes a log takes open, sealed and archived, beside its payloads and what `zstd -19` makes of its export.
extension FamilyLog {
    func sizes() throws -> [Figure] {
        let payloads = try payloadBytes()
        let open = try heldBytes(of: log)
        let sealed = try heldBytes(of: rewritten("seal", "--force"))
        let archive = scratch.fresh("archive.zst")
        let isCompacted = (try? rewritten("compact", "--keep", "0", "--deleted", "0", "--archive", archive)) != nil
        func figure(_ what: String, _ bytes: Int, of whole: Int, allowed: Double) -> Figure {
            Figure("size, \(name), \(what)", events: count, found: Double(bytes) / Double(whole), allowed: allowed)
        }
        // The texts of the chats are drawn from so many words that the goal for frames, 0.30, says nothing of them.
        var figures = [figure("sealed log beside the open one", sealed, of: open, allowed: 0.45)]
        if held == .commits {
            figures.append(figure("sealed log beside the payloads", sealed, of: payloads, allowed: 0.45))
        }
        guard let limit = try compressedExport() else { return figures }
        func beside(_ what: String, _ bytes: Int) -> Figure {
            let (least, found) = ([Double(limit) / 1e6], [Double(bytes) / 1e6])
            return Figure(
                "size, \(name), \(what), MB",
                events: count,
                rates: found,
                beside: "zstd -19",
                least,
                goal: nil
            )
        }
        figures += [beside("payloads", payloads), beside("open log", open), beside("sealed log", sealed)]
        if isCompacted, let size = Self.size(of: archive) { figures.append(beside("archive of all messages", size)) }
        return figures
    }

    /// A copy of the log after a rewrite of it.
    private func rewritten(_ command: String, _ options: String...) throws -> String {
        let copy = scratch.fresh("copy.eventlog")
        try FileManager.default.copyItem(atPath: log, toPath: copy)
        _ = try Child.use(program, [command, copy, "-q"] + options, output: scratch.file("out"))
        return copy
    }

    private func payloadBytes() throws -> Int {
        var bytes = 0
        try EventStore.open(at: log).read { session in
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                bytes += event.withPayload { $0.count }
                return true
            }
        }
        return bytes
    }

    /// The bytes of the generation that counts, its caches left out.
    private func heldBytes(of log: String) throws -> Int {
        let names = try FileManager.default.contentsOfDirectory(atPath: log)
        return names.filter { $0.hasPrefix("gen-") }.reduce(0) { $0 + Scratch.bytes(of: "\(log)/\($1)") }
    }

    /// The bytes that `zstd -19 --long=27` makes of the export; `nil` where there is no such program.
    private func compressedExport() throws -> Int? {
        let (export, compressed) = (scratch.fresh("export.ndjson"), scratch.fresh("export.zst"))
        _ = try Child.use(program, ["export", log, "-q", "-o", export], output: scratch.file("out"))
        defer { try? FileManager.default.removeItem(atPath: export) }
        let arguments = ["zstd", "-19", "--long=27", "-q", "-o", compressed, export]
        guard (try? Child.use("/usr/bin/env", arguments, output: scratch.file("out"))) != nil else { return nil }
        return Self.size(of: compressed)
    }

    private static func size(of path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }
}
