import Clients
import EventLog
import Projections
import Testing

@testable import logtool

@Suite struct PointTests {
    @Test(arguments: [
        ("4711", Point.sequence(SequenceNumber(4711))),
        ("0", .sequence(.zero)),
        ("head", .belowHead(0)),
        ("head~10", .belowHead(10)),
        ("2026-01-19T08:30:00Z", .time(Timestamp(seconds: 1_768_811_400))),
        ("2026-01-19T10:30:00+02:00", .time(Timestamp(seconds: 1_768_811_400))),
        ("remote:2026-01-19T08:30:00Z", .remoteTime(Timestamp(seconds: 1_768_811_400))),
        ("-1", .belowHead(1)),
        ("2026-01-19", .time(Timestamp(seconds: 1_768_780_800))),
        ("2026-01-19 08:30", .time(Timestamp(seconds: 1_768_811_400))),
        ("2026-01-19T08:30", .time(Timestamp(seconds: 1_768_811_400))),
        ("2026-01-19 08:30:00", .time(Timestamp(seconds: 1_768_811_400))),
        ("2026-01-19 10:30:00+02:00", .time(Timestamp(seconds: 1_768_811_400))),
        ("remote:2026-01-19 08:30", .remoteTime(Timestamp(seconds: 1_768_811_400))),
    ])
    func everyFormIsRead(text: String, point: Point) throws {
        #expect(try PointArgument.parse(text) == point)
    }

    @Test(arguments: [
        "", "head~", "head~-1", "head+1", "-", "-x", "1.5", "HEAD", "2026-01", "2026-13-19", "2026-01-19 ",
        "2026-01-19 8:30", "2026-01-19 24:00", "2026 01-19", "remote:", "remote:5", "remote:-1",
        "18446744073709551616",
        "١",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(throws: (any Error).self) { try PointArgument.parse(text) }
    }
}

@Suite struct StateReferenceTests {
    @Test(arguments: [
        ("L", StateReference.log(path: "L", point: nil, profile: .canonical)),
        ("L@10", .log(path: "L", point: .sequence(SequenceNumber(10)), profile: .canonical)),
        ("L@head~1#canonical", .log(path: "L", point: .belowHead(1), profile: .canonical)),
        ("L#canonical@head~1", .log(path: "L", point: .belowHead(1), profile: .canonical)),
        ("a@b/c#d/L", .log(path: "a@b/c#d/L", point: nil, profile: .canonical)),
        ("me@home@3", .log(path: "me@home", point: .sequence(SequenceNumber(3)), profile: .canonical)),
        ("a/b.json", .document(path: "a/b.json")),
        ("-", .standardInput),
    ])
    func everyFormIsRead(text: String, reference: StateReference) throws {
        #expect(try StateReference.parse(text) == reference)
    }

    @Test(arguments: ["L#nobody", "@10", "#canonical", "L@", "L@nonsense", ""])
    func anythingElseIsRefused(text: String) {
        #expect(throws: (any Error).self) { try StateReference.parse(text) }
    }
}

@Suite struct DurationTextTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("90s", .seconds(90)), ("30m", .seconds(1800)),
        ("7d", .seconds(604_800)),
        ("0s", .zero),
    ])
    func durationsAreRead(text: String, duration: Duration) throws {
        #expect(try DurationText.parse(text) == duration)
    }

    @Test(arguments: ["", "s", "90", "-1s", "1.5s", "9223372036854775807d", "1 s"])
    func anythingElseIsRefused(text: String) {
        #expect(throws: (any Error).self) { try DurationText.parse(text) }
    }
}
