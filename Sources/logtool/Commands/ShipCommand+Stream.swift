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
        let shipment = try CourierShipment(of: store, by: courier, request)
        let checkpoint = try shipment.round { done, total in
            progress.report("published \(done) of \(total)", done: Int(clamping: done), total: Int(clamping: total))
        }
        progress.end()
        let standard = output.standardOutput
        if document.json {
            try standard.line(JSONValue.object(Self.json(checkpoint, shipment)).lines)
        } else {
            try standard.line(Self.text(checkpoint, shipment, to: courier.name))
        }
        try standard.flush()
        if follow { try goOn(store, shipment, checkpoint, courier.name, standard) }
    }

    /// How often the stream is looked at where nothing happens: it may have lost its end.
    private static let lookEach = Duration.seconds(5)

    private func goOn(
        _ store: EventStore,
        _ shipment: CourierShipment,
        _ checkpoint: Checkpoint,
        _ name: String,
        _ standard: StandardOutput
    ) throws {
        var (last, counts, looked) = (checkpoint, shipment.counts, ContinuousClock.now)
        var generation = try store.read { $0.generationNumber }
        var isAway = false
        while true {
            do {
                try shipment.serve(within: .milliseconds(100))
                let now = try store.read { ($0.head.rawValue, $0.generationNumber) }
                if now != (last.size, generation) || looked.duration(to: .now) > Self.lookEach {
                    last = try shipment.round()
                    (generation, looked) = (now.1, .now)
                }
                isAway = false
            } catch let error as EventLogError where error.code == .io {
                // The server comes back, or somebody looks at the log of this program.
                if !isAway { StandardError.line("logtool: \(error.description); trying again") }
                isAway = true
                usleep(500_000)
            }
            guard shipment.counts != counts else { continue }
            counts = shipment.counts
            Interrupts.leave("logtool: \(Self.text(counts))")
            try standard.line(Self.text(last, shipment, to: name))
            try standard.flush()
        }
    }

    private static func text(_ checkpoint: Checkpoint, _ shipment: CourierShipment, to name: String) -> String {
        let verifier = shipment.verifier.map { "\nverify it with --verifier \($0.text)" } ?? ""
        return
            "\(DisplayText.escaped(name)) has \(checkpoint.size) events, root \(checkpoint.root): \(text(shipment.counts))\(verifier)"
    }

    private static func text(_ counts: CourierShipment.Counts) -> String {
        let removed = counts.removed > 0 ? ", \(counts.removed) from before a rewrite removed" : ""
        return
            "\(counted(counts.published, "message")) of \(counts.bytes) bytes published, \(counts.acknowledged) acknowledged, "
            + "\(counts.resent) resent, \(counted(counts.asked, "question")) answered\(removed)"
    }

    private static func json(_ checkpoint: Checkpoint, _ shipment: CourierShipment) -> JSONObject {
        let counts = shipment.counts
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
            "verifier": .text(shipment.verifier?.text),
        ]
    }
}
