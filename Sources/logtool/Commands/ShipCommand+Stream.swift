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

/// `ship --to nats://…`: publishes a log's events.
extension ShipCommand {
    /// Publishes what the stream lacks, and with `--follow` goes on.
    ///
    /// - Throws: as `CourierShipment.round`, without `--follow` also if the server goes away.
    func publish(_ store: EventStore, _ request: LogShipment.Request, _ progress: Progress) throws {
        let end = CourierEnd.sender(store.identity, replicas: replicas ?? 1)
        let courier = try server.courier(at: to, as: end, operation: "ship --to")
        var sender = try StreamSender(of: store, by: courier, request) { done, total in
            progress.report("published \(done) of \(total)", done: Int(clamping: done), total: Int(clamping: total))
        }
        progress.end()
        var notice = ForeignNotice()
        notice.say(sender, isQuiet: output.quiet)
        let standard = output.standardOutput
        if document.json {
            try standard.line(JSONValue.object(Self.json(sender)).lines)
        } else {
            try standard.line(Self.text(sender))
        }
        try standard.flush()
        if follow { try goOn(&sender, &notice, standard) }
    }

    private func goOn(
        _ sender: inout StreamSender,
        _ notice: inout ForeignNotice,
        _ standard: StandardOutput
    ) throws {
        var counts = sender.shipment.counts
        var isAway = false
        while true {
            do {
                try sender.step()
                isAway = false
            } catch let error as EventLogError where error.code == .io {
                // The server comes back, or somebody looks at the log of this program.
                if !isAway { StandardError.line("logtool: \(error.description); trying again") }
                isAway = true
                usleep(500_000)
            }
            guard sender.shipment.counts != counts else { continue }
            counts = sender.shipment.counts
            notice.say(sender, isQuiet: output.quiet)
            Interrupts.leave("logtool: \(Self.text(counts))")
            try standard.line(Self.text(sender))
            try standard.flush()
        }
    }

    /// Says once that others publish to the stream.
    private struct ForeignNotice {
        private var isSaid = false

        mutating func say(_ sender: StreamSender, isQuiet: Bool) {
            let foreign = sender.shipment.counts.foreign
            guard foreign > 0, !isSaid, !isQuiet else { return }
            isSaid = true
            StandardError.line(
                "logtool: \(DisplayText.escaped(sender.name)) has \(StreamCopy.batches(foreign)) of other events under this log's identity, "
                    + "which are passed over: somebody else publishes there, or this log lost its end"
            )
        }
    }

    private static func text(_ sender: StreamSender) -> String {
        let verifier = sender.shipment.verifier.map { "\nverify it with --verifier \($0.text)" } ?? ""
        return
            "\(DisplayText.escaped(sender.name)) has \(sender.checkpoint.size) events, root \(sender.checkpoint.root): "
            + "\(text(sender.shipment.counts))\(verifier)"
    }

    private static func text(_ counts: CourierShipment.Counts) -> String {
        let foreign = counts.foreign > 0 ? ", \(StreamCopy.batches(counts.foreign)) of other logs passed over" : ""
        let removed = counts.removed > 0 ? ", \(counts.removed) from before a rewrite removed" : ""
        return
            "\(counted(counts.published, "message")) of \(counts.bytes) bytes published, \(counts.acknowledged) acknowledged, "
            + "\(counts.resent) resent, \(counted(counts.asked, "question")) answered\(removed)\(foreign)"
    }

    private static func json(_ sender: StreamSender) -> JSONObject {
        let (checkpoint, counts) = (sender.checkpoint, sender.shipment.counts)
        return [
            "origin": .string(checkpoint.origin),
            "size": .string(String(checkpoint.size)),
            "root": .string(Base64.encode(checkpoint.root.bytes)),
            "published": .int(counts.published),
            "bytes": .string(String(counts.bytes)),
            "acknowledged": .int(counts.acknowledged),
            "resent": .int(counts.resent),
            "asked": .int(counts.asked),
            "removed": .int(counts.removed),
            "foreign": .int(counts.foreign),
            "verifier": .text(sender.shipment.verifier?.text),
        ]
    }
}
