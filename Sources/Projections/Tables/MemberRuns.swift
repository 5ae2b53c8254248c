import EventLog

/// Members of one object as they stand in its text: up to three runs of neighbours. Borrows the text.
struct MemberRuns: BitwiseCopyable {
    /// One run: what stands between the name of its first member and the end of its last value.
    private struct Run: BitwiseCopyable {
        var offset: UInt32 = 0
        var count: UInt32 = 0
    }

    private var start: UnsafeRawPointer?
    private var runs = (Run(), Run(), Run())
    private var runCount: UInt8 = 0
    /// Whether one of the members is not null.
    private var hasValue = false

    static var none: MemberRuns { MemberRuns() }

    private init() {}

    /// The members of a whole object, which stand between its braces.
    ///
    /// - Parameter object: the text of an object that has a member which is not null, of fewer than 2^32 bytes.
    init(object: UnsafeRawBufferPointer) {
        start = object.baseAddress
        runs.0 = Run(offset: 1, count: UInt32(object.count - 2))
        (runCount, hasValue) = (1, true)
    }

    /// Whether there is nothing to keep: members that are null say nothing.
    var isEmpty: Bool { !hasValue }

    /// The bytes of an object that has these members; 0 where there is nothing to keep.
    var byteCount: Int {
        if isEmpty { return 0 }
        return Int(runs.0.count) + Int(runs.1.count) + Int(runs.2.count) + Int(runCount) + 1
    }

    /// Adds a member that stands behind those before, in the same text; false where there is no room for another run.
    mutating func add(_ member: UnsafeRawBufferPointer, isNull: Bool) -> Bool {
        guard let place = member.baseAddress, member.count < 1 << 24 else { return false }
        if !isNull { hasValue = true }
        guard let start else {
            self.start = place
            runs.0 = Run(offset: 0, count: UInt32(member.count))
            runCount = 1
            return true
        }
        let offset = place - start
        guard offset < 1 << 24 else { return false }
        let last = lastRun
        let end = Int(last.offset + last.count)
        let gap = UnsafeRawBufferPointer(start: start + end, count: offset - end)
        if gap.allSatisfy({ $0 <= 0x20 || $0 == UInt8(ascii: ",") }) {
            lastRun.count = UInt32(offset + member.count) - last.offset
            return true
        }
        guard runCount < 3 else { return false }
        runCount += 1
        lastRun = Run(offset: UInt32(offset), count: UInt32(member.count))
        return true
    }

    private var lastRun: Run {
        get { runCount == 1 ? runs.0 : runCount == 2 ? runs.1 : runs.2 }
        set {
            switch runCount {
            case 1: runs.0 = newValue
            case 2: runs.1 = newValue
            default: runs.2 = newValue
            }
        }
    }

    /// Writes an object that has these members.
    func appendObject(to bytes: inout [UInt8]) {
        guard let start, !isEmpty else { return }
        bytes.append(UInt8(ascii: "{"))
        for (index, run) in [runs.0, runs.1, runs.2].prefix(Int(runCount)).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: start + Int(run.offset), count: Int(run.count)))
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Whether an object that has these members would have this text.
    func isText(_ object: UnsafeRawBufferPointer) -> Bool {
        guard byteCount == object.count else { return false }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        appendObject(to: &bytes)
        return bytes.withUnsafeBytes { sameBytes($0, object) }
    }

    /// Whether an object that has these members equals another one: the order of members does not count.
    func isSame(as object: UnsafeRawBufferPointer) -> Bool {
        if isEmpty || object.isEmpty { return isEmpty == object.isEmpty }
        if isText(object) { return true }
        var bytes: [UInt8] = []
        appendObject(to: &bytes)
        guard let own = try? JSONValue.parse(bytes), let other = try? JSONValue.parse(object) else { return false }
        return own.droppingNull == other.droppingNull
    }
}

extension JSONValue {
    /// An object without the members that are null.
    fileprivate var droppingNull: JSONValue {
        guard let members = object?.members else { return self }
        return .object(JSONObject(distinct: members.filter { !$0.value.isNull }))
    }
}
