import EventLog
import Foundation
import TestSupport

@testable import Shipping

/// A log, its courier, and both ends, which start anew now and then.
final class CourierBench {
    let folder: TemporaryDirectory
    let store: EventStore
    let courier: LossyCourier
    var random: SeededGenerator
    var shipment: CourierShipment
    var pull: CourierPull
    var count = 0
    /// What is left in the counters of shipments that ended.
    var counts = CourierShipment.Counts()
    private let request: LogShipment.Request

    init(seed: UInt64, request: LogShipment.Request = .init()) throws {
        (folder, random, self.request) = (try TemporaryDirectory(), SeededGenerator(seed: seed), request)
        var options = EventStore.Options()
        options.durability = .fast
        store = try EventStore.openOrCreate(at: folder.path("L"), options: options)
        courier = LossyCourier(of: store.identity, seed: seed)
        shipment = try CourierShipment(of: store, by: courier, request, eventsMax: 16)
        pull = CourierPull(from: courier, into: folder.path("C"), options: options)
    }

    func append(_ new: Int) throws {
        let bookmark = Bookmark(source: try SourceName("s"), bytes: Array("at \(count)".utf8))
        _ = try store.append(try Self.drafts(new, from: count), bookmark: bookmark)
        _ = try store.flush()
        count += new
    }

    func restartSender() throws {
        counts = sum
        shipment = try CourierShipment(of: store, by: courier, request, eventsMax: 16)
    }

    func restartReceiver() {
        pull = CourierPull(from: courier, into: folder.path("C"), options: options)
    }

    private var options: EventStore.Options {
        var options = EventStore.Options()
        options.durability = .fast
        return options
    }

    /// Counters of all shipments.
    var sum: CourierShipment.Counts { counts + shipment.counts }

    /// Lets a sender answer, and publish what is asked for.
    func connect() {
        courier.sender = { [unowned self] in try shipment.answer($0) }
        courier.whileWaiting = { [unowned self] in if shipment.isWanted { try? ship() } }
    }

    /// Publishes; what a bad courier makes impossible is left for later.
    func ship() throws {
        do {
            _ = try shipment.round()
        } catch let error as EventLogError where error.code == .io {}
    }

    func redact() throws { try Self.redact(store, &random) }

    /// Redacts an event, if the one that is chosen may be.
    static func redact(_ store: EventStore, _ random: inout SeededGenerator) throws {
        let head = try store.read { $0.head }
        guard head > .zero else { return }
        let chosen = SequenceNumber(UInt64.random(in: 1...head.rawValue, using: &random))
        guard try store.read({ try $0.holding(at: chosen) }) == .whole else { return }
        let isAct = try store.read { try $0.event(at: chosen)?.envelope.source == .logtool }
        if isAct { return }
        let substitute = Array("[gone]".utf8)
        var plan = try RewritePlan.dropping([], decidedAt: head)
        plan.substitutes = [chosen: substitute]
        let hash = Hasher256.hash(substitute).hex
        plan.act.payload = Array(
            "{\"redacted\":[{\"sequence\":\"\(chosen)\",\"substituteHash\":\"\(hash)\"}]}".utf8
        )
        _ = try store.rewrite(plan)
    }

    var taking: LogPull.Request {
        var request = LogPull.Request()
        request.takesBookmarks = true
        return request
    }

    static func drafts(_ count: Int, from first: Int) throws -> [DraftEvent] {
        try (first..<first + count).map { number in
            DraftEvent(
                recordedAt: Timestamp(microseconds: Int64(number) * 1000),
                source: try SourceName(["s", "s.1", "ü"][number % 3]),
                kind: try EventKind("k/1"),
                key: try EventKey("key \(number)"),
                payload: Array("payload \(number)".utf8)
            )
        }
    }

    static func lines(of store: EventStore, header: Bool = true) throws -> [[UInt8]] {
        var lines: [[UInt8]] = []
        try store.read { try $0.forEachLine { line, _ in lines.append(line) } }
        return header ? lines : Array(lines.dropFirst())
    }
}

extension CourierShipment.Counts {
    static func + (left: Self, right: Self) -> Self { left.adding(right) }
}
