import JSON

/// Finds the one kind that a capture's lines show.
///
/// A line shows a kind by its members, or by its frame's first members. A frame that is malformed before them shows
/// none.
struct CaptureKindGuess {
    /// The number of frames that are examined; more would not change the answer for an honest capture.
    private static let frameCountMax = 256

    private var kinds: Set<CaptureKind> = []
    private var frameCount = 0
    /// True until a connection's first frame, which decides whether its frames are pieces of a stream.
    private var isFirstOfConnection = true
    private var isStream = false
    /// Whether answers were seen, which only the kinds of any app have.
    private var hasAnswers = false
    private var hasObservations = false

    /// Whether the bytes of the next frame are looked at.
    var looksAtFrames: Bool { frameCount < Self.frameCountMax }

    /// Takes a line into account; lines must come in the capture's order.
    mutating func look(at line: CaptureLine) {
        switch line.content {
        case .link:
            isFirstOfConnection = true
            isStream = false
        case .file: kinds.insert(.status)
        case .answer: hasAnswers = true
        case .observed: hasObservations = true
        case .frame(_, let bytes):
            defer { isFirstOfConnection = false }
            guard looksAtFrames else { return }
            frameCount += 1
            if isFirstOfConnection { isStream = Self.beginsEventStream(bytes) }
            if isStream {
                kinds.insert(.sse)
            } else if let kind = bytes.withUnsafeBufferPointer(Self.kind(ofFrame:)) {
                kinds.insert(kind)
            }
        }
    }

    /// The one kind that fits.
    ///
    /// - Throws: `IngestError` with code `unknownKind` if none fits, or several do.
    func kind(of name: String) throws -> CaptureKind {
        if hasAnswers, !kinds.contains(.status) { return frameCount > 0 ? .ws : .http }
        if hasObservations, kinds.isEmpty, frameCount == 0 { return .observed }
        if kinds.count == 1, let kind = kinds.first { return kind }
        let fitting = CaptureKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ", ")
        throw CaptureFile.error(
            .unknownKind,
            name,
            kinds.isEmpty
                ? "its frames do not show which kind of capture it is" : "its frames fit several kinds: \(fitting)",
            advice: "say which with --kind \(CaptureKind.allCases.map(\.rawValue).joined(separator: "|"))"
        )
    }

    /// True if the first bytes of a connection are a field or comment of an event stream.
    private static func beginsEventStream(_ bytes: [UInt8]) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        // Empty lines may come before the first field.
        let first = text.drop { $0 == 0x0A || $0 == 0x0D }
        return ["data:", "id:", "event:", "retry:", ":"].contains { first.starts(with: $0.utf8) }
    }

    /// The kind that a frame's members show; `nil` for none. Reads no further than the member that decides.
    static func kind(ofFrame bytes: UnsafeBufferPointer<UInt8>) -> CaptureKind? {
        var reader = JSONReader(UnsafeRawBufferPointer(bytes), levelsMax: .max, allowsAnyBytes: true)
        do throws(JSONError) {
            switch try reader.kind() {
            case .object: return try kind(ofObject: &reader)
            case .array: return try kind(ofArray: &reader)
            default: return nil
            }
        } catch {
            return nil
        }
    }

    private static func kind(ofObject reader: inout JSONReader) throws(JSONError) -> CaptureKind? {
        // The names so far. Names with escapes count as `other`.
        var members: Members = []
        try reader.enterObject()
        while let name = try reader.nextMember() {
            members.insert(Members(name: name.bytes))
            // Each kind has members that the others lack: `op` is the gateway's, `topic` and `event` are Phoenix's.
            if members.contains(.op) { return .gateway }
            if members.isSuperset(of: [.topic, .event]) { return .realtime }
            if members.isSuperset(of: [.project, .items]) { return .items }
            try reader.skip()
        }
        // An object with `project` alone is a message with an empty list.
        try reader.finish()
        // An object with `project` alone is a message with an empty list.
        return members == .project ? .items : nil
    }

    /// Judges an array: an empty one, or one that begins with an object, is an item list; one of five elements whose
    /// third and fourth are strings is a Phoenix frame.
    private static func kind(ofArray reader: inout JSONReader) throws(JSONError) -> CaptureKind? {
        var count = 0
        try reader.enterArray()
        while try reader.nextElement() {
            let kind = try reader.kind()
            count += 1
            if count == 1, kind == .object { return .items }
            if (3...4).contains(count), kind != .string { return nil }
            if count > 5 { return nil }
            try reader.skip()
        }
        return count == 0 ? .items : count == 5 ? .realtime : nil
    }

    /// The members by which frames are told apart.
    private struct Members: OptionSet {
        let rawValue: UInt8
        static let op = Self(rawValue: 1)
        static let topic = Self(rawValue: 2)
        static let event = Self(rawValue: 4)
        static let project = Self(rawValue: 8)
        static let items = Self(rawValue: 16)
        /// A member that tells nothing.
        static let other = Self(rawValue: 32)

        init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        init(name: UnsafeRawBufferPointer) {
            func isName(_ text: StaticString) -> Bool {
                text.withUTF8Buffer { $0.elementsEqual(name) }
            }
            if isName("op") {
                self = .op
            } else if isName("topic") {
                self = .topic
            } else if isName("event") {
                self = .event
            } else if isName("project") {
                self = .project
            } else {
                self = isName("items") ? .items : .other
            }
        }
    }
}
