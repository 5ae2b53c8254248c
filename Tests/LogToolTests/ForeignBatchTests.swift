import EventLog
import Foundation
import TestSupport
import Testing

@testable import Shipping

/// Batches that somebody else puts into a stream under the log's identity: they stop nobody, and a copy of the log that goes on
/// otherwise is told by name.
@Suite struct ForeignBatchTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    /// A key whose 32 bytes are all the same.
    private static func key(_ byte: UInt8, _ name: String) throws -> SigningKey {
        let head: [UInt8] = [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20]
        let body = Data(head + [UInt8](repeating: byte, count: 32)).base64EncodedString()
        let pem = "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n"
        return try SigningKey(pem: Array(pem.utf8), at: "key", name: name)
    }

    private static func request(key byte: UInt8?) -> LogShipment.Request {
        var request = LogShipment.Request()
        request.origin = "example.org/l"
        if let byte { request.key = { try Self.key(byte, $0) } }
        return request
    }

    /// A copy of the bench's log as it was after some events, which goes on otherwise.
    private static func other(
        _ bench: CourierBench,
        after count: Int,
        adding new: Int,
        from first: Int,
        named name: String
    ) throws -> EventStore {
        let path = bench.folder.path(name)
        var options = EventStore.Options()
        options.durability = .fast
        var lines = try bench.store.read { session in
            var events: [RecordedEvent] = []
            try session.forEachPiece { if case .event(let event) = $0 { events.append(event) } }
            return events
        }
        lines = Array(lines.prefix(count))
        let root = try bench.store.read { try $0.root(size: UInt64(count)) }
        let header = LogHeader(identity: bench.store.identity, size: UInt64(count), root: root)
        _ = try EventStore.importLog(at: path, header: header, options: options) { log in
            for event in lines { try log.add(.event(event)) }
        }
        let store = try EventStore.open(at: path, options: options)
        _ = try store.append(try CourierBench.drafts(new, from: first))
        _ = try store.flush()
        return store
    }

    /// What somebody who may publish puts into a stream: a log that parts from the true one, perhaps rewritten, with a key of its own or
    /// none; true ids with other bytes; ids of events that nobody has.
    private static func forged(
        _ bench: CourierBench,
        after count: Int,
        _ number: Int
    ) throws -> [CourierMessage] {
        let new = Int.random(in: 1...60, using: &bench.random)
        let forged = try other(bench, after: count, adding: new, from: 5000 + number * 100, named: "F\(number)")
        if Bool.random(using: &bench.random) { try CourierBench.redact(forged, &bench.random) }
        let courier = LossyCourier(of: forged.identity, seed: 1)
        courier.mischief = 0
        let request = request(key: Bool.random(using: &bench.random) ? 9 : nil)
        _ = try CourierShipment(
            of: forged,
            by: courier,
            request,
            eventsMax: [3, 16, 400].randomElement(using: &bench.random) ?? 16
        )
        .round()
        var messages = courier.held
        for message in bench.courier.held.shuffled(using: &bench.random).prefix(3) {
            messages.append(CourierMessage(subject: "s", id: message.id, bytes: [1, 2, 3]))
        }
        let state = [RewriteState(acts: [], decidedAt: 0), RewriteState(count: 99, token: "ff")]
        for state in state {
            let name = BatchName(
                what: .events,
                first: 1,
                last: 1 << 40,
                parts: 1,
                state: state,
                root: "ab",
                digest: "cd"
            )
            let id = PartID(identity: forged.identity.hexDigits, batch: name, part: 1, attempt: 0)
            messages.append(CourierMessage(subject: "s", id: id.text, bytes: Array("{}\n".utf8)))
        }
        return messages.shuffled(using: &bench.random)
    }

    /// Keyed receivers take what the key has signed. The others take what fits first, so their log is forged only before its end.
    @Test(arguments: 1...UInt64(isLong ? 1000 : 10)) func aForgerStopsNobody(seed: UInt64) throws {
        let isSigned = seed.isMultiple(of: 2)
        let bench = try CourierBench(seed: seed, request: Self.request(key: isSigned ? 7 : nil))
        bench.courier.mischief = 0
        var taking = bench.taking
        if isSigned { taking.verifiers = [try Self.key(7, "example.org/l").verifier] }
        try bench.append(40)
        _ = try bench.shipment.round()
        _ = try bench.pull.run(taking)
        for number in 0..<3 {
            let all = Int(try bench.store.read { $0.head.rawValue })
            let after = Int.random(in: 0..<all, using: &bench.random)
            bench.courier.take(try Self.forged(bench, after: after, number))
            if Bool.random(using: &bench.random) { try bench.append(Int.random(in: 1...40, using: &bench.random)) }
            if isSigned, seed.isMultiple(of: 3) { try bench.redact() }
            if Bool.random(using: &bench.random) { try bench.restartSender() }
            if Bool.random(using: &bench.random) { bench.restartReceiver() }
            _ = try bench.shipment.round()
            #expect(bench.sum.foreign > 0, "seed \(seed)")
            // Without a sender, what a lying id hides may stay missing.
            bench.courier.sender = nil
            do {
                _ = try bench.pull.run(taking)
            } catch let error as EventLogError where error.code == .notFound {}
            bench.connect()
            let result = try bench.pull.run(taking)
            #expect(try result.head == bench.store.read { $0.head.rawValue }, "seed \(seed)")
        }
        let copy = try EventStore.open(at: bench.folder.path("C"))
        #expect(try CourierBench.lines(of: bench.store) == CourierBench.lines(of: copy), "seed \(seed)")
    }

    /// Ids that were taken from the true ones, before these come: a receiver complains, and the sender publishes them again.
    @Test func aLostTailThatOthersFillIsMended() throws {
        let bench = try CourierBench(seed: 4)
        bench.courier.mischief = 0
        try bench.append(60)
        _ = try bench.shipment.round()
        let held = bench.courier.held
        bench.courier.forgetAll()
        bench.courier.take(held.map { CourierMessage(subject: $0.subject, id: $0.id, bytes: [0]) })
        try bench.restartSender()
        _ = try bench.shipment.round()
        bench.connect()
        #expect(try bench.pull.run().head == 60)
        // Both copies are there, in either order.
        bench.courier.take(held.map { CourierMessage(subject: $0.subject, id: $0.id, bytes: [0]) })
        try FileManager.default.removeItem(atPath: bench.folder.path("C"))
        bench.restartReceiver()
        bench.courier.sender = nil
        #expect(try bench.pull.run().head == 60)
    }

    /// Two copies of a log that go on otherwise, one stream, one key: neither sender goes on, and each names where they part.
    @Test(arguments: [true, false]) func aSecondSenderWithTheKeyIsAFork(lostItsEnd: Bool) throws {
        let bench = try CourierBench(seed: 5, request: Self.request(key: 7))
        bench.courier.mischief = 0
        try bench.append(100)
        _ = try bench.shipment.round()
        let second = try Self.other(bench, after: 70, adding: lostItsEnd ? 0 : 50, from: 5000, named: "S")
        let shipment = try CourierShipment(of: second, by: bench.courier, Self.request(key: 7), eventsMax: 16)
        let error = #expect(throws: EventLogError.self) { _ = try shipment.round() }
        #expect(error?.code == .invalidArgument && error?.sequence?.rawValue == 71, "\(String(describing: error))")
        #expect(shipment.counts.published == 0)
    }

    /// Without a key, a sender that runs tells; if none does, the batches are somebody's.
    @Test(arguments: [true, false]) func aSecondSenderIsAsked(isThere: Bool) throws {
        let bench = try CourierBench(seed: 6)
        bench.courier.mischief = 0
        try bench.append(100)
        _ = try bench.shipment.round()
        if isThere { bench.connect() }
        let second = try Self.other(bench, after: 70, adding: 50, from: 5000, named: "S")
        let shipment = try CourierShipment(of: second, by: bench.courier, eventsMax: 16)
        if isThere {
            let error = #expect(throws: EventLogError.self) { _ = try shipment.round() }
            #expect(error?.sequence?.rawValue == 71, "\(String(describing: error))")
        } else {
            #expect(try shipment.round().size == 120)
            #expect(shipment.counts.foreign == 3)
        }
    }
}
