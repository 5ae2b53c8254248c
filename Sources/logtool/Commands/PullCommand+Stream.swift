import EventLog
import JSON
import JetStream
import Projections
import Shipping

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// `pull --from nats://…`: takes events as a stream brings them.
extension PullCommand {
    /// Takes what the log lacks, and with `--follow` goes on.
    ///
    /// - Throws: as `run`; with `--follow` not because events are missing, or the server is away.
    func pullStream() throws {
        let log = log ?? ""
        let options = write.storeOptions(isQuiet: output.quiet)
        let courier = try StreamCopy.courier(at: from, tree.server, into: log, options, operation: "pull --from")
        let pull = CourierPull(from: courier, into: log, options: options)
        var request = LogPull.Request()
        (request.verifiers, request.takesBookmarks) = (try tree.verifiers(), bookmarks)
        request.followsCompactions = compacted
        let standard = output.standardOutput
        func take() throws -> CourierPull.Result {
            let progress = output.progress("pulling")
            defer { progress.end() }
            return try taking(into: log) {
                try pull.run(request, within: arrival) { done, total in
                    progress.report("took \(done) of \(total)", done: Int(clamping: done), total: Int(clamping: total))
                }
            } rewrites: {
                $0.rewrites
            }
        }
        guard follow else {
            let result = try take()
            try standard.line(document.json ? JSONValue.object(json(result)).lines : text(result))
            return try standard.flush()
        }
        let notice = StreamCopy.Notice()
        while true {
            try notice.reporting {
                let result = try take()
                if result.head > result.before || notice.isFirst {
                    try standard.line(text(result))
                    try standard.flush()
                }
                try pull.awaitNews(within: .seconds(1))
            }
        }
    }

    private func text(_ result: CourierPull.Result) -> String {
        let signers = tree.verifier.isEmpty ? "" : ", signed as asked"
        let end = "\(result.head) events, root \(result.root)\(signers)"
        let refused = result.refused > 0 ? ", \(StreamCopy.batches(result.refused)) refused" : ""
        let foreign = result.foreign > 0 ? ", \(StreamCopy.batches(result.foreign)) of other logs passed over" : ""
        let others = refused + foreign
        if result.head == result.before { return "the log has everything already: \(end)\(others)" }
        let new = counted(Int(clamping: result.head - result.before), "event")
        let rewrites = result.rewrites > 0 ? " and followed \(counted(result.rewrites, "rewrite"))" : ""
        return "took \(new)\(rewrites): \(end)\(others)"
    }

    private func json(_ result: CourierPull.Result) -> JSONObject {
        [
            "origin": .text(result.checkpoint?.checkpoint.origin),
            "size": .string(String(result.head)),
            "root": .string(Base64.encode(result.root.bytes)),
            "before": .string(String(result.before)),
            "head": .string(String(result.head)),
            "rewrites": .int(result.rewrites),
            "verified": .bool(!tree.verifier.isEmpty),
            "asked": .int(result.asked),
            "refused": .int(result.refused),
            "foreign": .int(result.foreign),
        ]
    }
}

/// A log that a stream keeps up to date.
enum StreamCopy {
    /// The courier of the stream that a log comes from.
    static func courier(
        at place: String,
        _ server: ServerOptions,
        into log: String,
        _ options: EventStore.Options,
        operation: String
    ) throws -> any Courier {
        var identity: [UInt8]?
        do {
            identity = try EventStore.open(at: log, options: options).identity
        } catch let error as EventLogError where error.code == .noLog {}
        return try server.courier(at: place, as: .receiver(identity), operation: operation)
    }

    /// A number of batches, for people.
    static func batches(_ count: Int) -> String { count == 1 ? "1 batch" : "\(count) batches" }

    /// Says once that a stream is away or incomplete, and goes on.
    final class Notice {
        private(set) var isFirst = true
        private var last: String?

        func reporting(_ body: () throws -> Void) throws {
            do {
                try body()
                (isFirst, last) = (false, nil)
            } catch let error as EventLogError where error.code == .io || error.code == .notFound {
                if last != error.description { StandardError.line("logtool: \(error.description); waiting") }
                last = error.description
                usleep(500_000)
            }
        }
    }
}
