import EventLog

/// Some members of one object, kept as up to five runs of its text. Borrows the text: valid only as long as it is. A
/// fixed number of runs keeps the type free of references, so that a frame is copied without counting.
struct MemberRuns: BitwiseCopyable {
    /// Neighbouring members: the text from the first one's name to the end of the last one's value.
    private struct Run: BitwiseCopyable {
        /// Counted from the start of the first run.
        var offset: UInt32 = 0
        var count: UInt32 = 0

        var end: Int { Int(offset + count) }
    }

    private static let runsMax = 5

    /// The start of the first run; `nil` without members. All runs lie in the buffer that the first member came from.
    private var start: UnsafeRawPointer?
    private var runs = (Run(), Run(), Run(), Run(), Run())
    private var runCount = 0
    /// Whether one of the members is not null.
    private var hasValue = false

    static var none: MemberRuns { MemberRuns() }

    private init() {}

    /// All members of an object.
    ///
    /// - Parameter object: the text of an object of fewer than 2^32 bytes, braces included. One of its members must not
    ///   be null. Neither is checked.
    init(object: UnsafeRawBufferPointer) {
        start = object.baseAddress
        runs.0 = Run(offset: 1, count: UInt32(object.count - 2))
        (runCount, hasValue) = (1, true)
    }

    /// True if all members are null: a null member equals an absent one.
    var isEmpty: Bool { !hasValue }

    /// The length of the object that `appendObject` writes; 0 if `isEmpty`.
    var byteCount: Int {
        if isEmpty { return 0 }
        // Braces, and commas between the runs.
        return (0..<runCount).reduce(runCount + 1) { $0 + Int(self[$1].count) }
    }

    /// Adds a member that follows those before in the same text. False if it needs a sixth run, or if its length or its
    /// distance to the first run reaches 16 MiB.
    mutating func add(_ member: UnsafeRawBufferPointer, isNull: Bool) -> Bool {
        guard let place = member.baseAddress, member.count < 1 << 24 else { return false }
        if !isNull { hasValue = true }
        let first = start ?? place
        let offset = place - first
        guard offset < 1 << 24 else { return false }
        start = first
        if runCount > 0 {
            let last = self[runCount - 1]
            assert(last.end <= offset, "members are added in the order of the text")
            // Between neighbouring members lie only a comma and white space; then one run serves both.
            let gap = UnsafeRawBufferPointer(start: first + last.end, count: offset - last.end)
            if gap.allSatisfy({ $0 <= 0x20 || $0 == UInt8(ascii: ",") }) {
                self[runCount - 1].count = UInt32(offset + member.count) - last.offset
                return true
            }
        }
        guard runCount < Self.runsMax else { return false }
        runCount += 1
        self[runCount - 1] = Run(offset: UInt32(offset), count: UInt32(member.count))
        return true
    }

    /// A tuple has no subscript. Places from 4 on mean the last run.
    private subscript(place: Int) -> Run {
        get {
            switch place {
            case 0: runs.0
            case 1: runs.1
            case 2: runs.2
            case 3: runs.3
            default: runs.4
            }
        }
        set {
            switch place {
            case 0: runs.0 = newValue
            case 1: runs.1 = newValue
            case 2: runs.2 = newValue
            case 3: runs.3 = newValue
            default: runs.4 = newValue
            }
        }
    }

    /// Writes an object with these members; nothing if `isEmpty`.
    func appendObject(to bytes: inout [UInt8]) {
        guard let start, !isEmpty else { return }
        bytes.append(UInt8(ascii: "{"))
        for place in 0..<runCount {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            let run = self[place]
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: start + Int(run.offset), count: Int(run.count)))
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Whether an object with these members equals another one, apart from the order of members and null ones. Parses
    /// both only if their bytes differ.
    func isSame(as object: UnsafeRawBufferPointer) -> Bool {
        if isEmpty || object.isEmpty { return isEmpty == object.isEmpty }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        appendObject(to: &bytes)
        if bytes.withUnsafeBytes({ sameBytes($0, object) }) { return true }
        guard let own = try? JSONValue.parse(bytes), let other = try? JSONValue.parse(object) else { return false }
        return own.droppingNull == other.droppingNull
    }
}

extension JSONValue {
    /// An object without its null members.
    fileprivate var droppingNull: JSONValue {
        guard let members = object?.members else { return self }
        return .object(JSONObject(distinct: members.filter { !$0.value.isNull }))
    }
}
