/// Finds the one kind that a capture's lines speak for.
///
/// A line speaks for a kind by its members, or by what its frame begins with; a frame that is malformed speaks for none.
struct CaptureKindGuess {
    /// Frames that are looked into; more would not change the answer of an honest capture.
    private static let frameCountMax = 256

    private var kinds: Set<CaptureKind> = []
    private var frameCount = 0
    private var isFirstOfConnection = true
    private var isStream = false

    mutating func look(at line: CaptureLine) {
        switch line.content {
        case .link:
            isFirstOfConnection = true
            isStream = false
        case .file: kinds.insert(.status)
        case .frame(_, let bytes):
            defer { isFirstOfConnection = false }
            guard frameCount < Self.frameCountMax else { return }
            frameCount += 1
            if isFirstOfConnection { isStream = Self.beginsEventStream(bytes) }
            if isStream {
                kinds.insert(.sse)
            } else if let kind = bytes.withUnsafeBufferPointer(Self.kind(ofFrame:)) {
                kinds.insert(kind)
            }
        }
    }

    /// The kind, if one fits.
    ///
    /// - Throws: `IngestError` with code `unknownKind`.
    func kind(of name: String) throws -> CaptureKind {
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

    /// Whether the first bytes of a connection are a field or comment of an event stream.
    private static func beginsEventStream(_ bytes: [UInt8]) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let first = text.drop { $0 == 0x0A || $0 == 0x0D }
        return ["data:", "id:", "event:", "retry:", ":"].contains { first.starts(with: $0.utf8) }
    }

    /// What a frame's own members say it is.
    static func kind(ofFrame bytes: UnsafeBufferPointer<UInt8>) -> CaptureKind? {
        var scanner = JSONScanner(bytes)
        do throws(JSONFault) {
            guard let first = try scanner.next() else { return nil }
            switch first.kind {
            case .beginObject: return try kind(ofObject: bytes, &scanner)
            case .beginArray: return try kind(ofArray: &scanner)
            default: return nil
            }
        } catch {
            return nil
        }
    }

    private static func kind(
        ofObject bytes: UnsafeBufferPointer<UInt8>,
        _ scanner: inout JSONScanner
    ) throws(JSONFault) -> CaptureKind? {
        var names: Set<String> = []
        while let token = try scanner.next() {
            guard token.kind == .name, scanner.depth == 1 else { continue }
            names.insert(String(decoding: bytes[token.range], as: UTF8.self))
        }
        if names.contains("op") { return .gateway }
        if names.isSuperset(of: ["topic", "event"]) { return .realtime }
        return names.isSuperset(of: ["project", "items"]) || names == ["project"] ? .items : nil
    }

    /// An array of objects is an item list; one of five of which the last is an object is a Phoenix frame.
    private static func kind(ofArray scanner: inout JSONScanner) throws(JSONFault) -> CaptureKind? {
        var elements: [JSONScanner.Kind] = []
        while let token = try scanner.next() {
            let isElement = token.kind == .beginObject || token.kind == .beginArray ? 2 : 1
            if scanner.depth == isElement, token.kind != .endArray, token.kind != .endObject {
                elements.append(token.kind)
            }
        }
        if elements.allSatisfy({ $0 == .beginObject }) { return .items }
        return elements.count == 5 && elements[2] == .string && elements[3] == .string ? .realtime : nil
    }
}
