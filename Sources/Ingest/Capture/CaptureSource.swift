public import EventLog
import Kinds

/// Records a capture: JSON lines, one frame or file observation per line (docs/events.md).
///
/// An event's key is the capture's first time and the line's number, so a capture that has grown adds only what is new
/// (I15).
public struct CaptureSource: EventSource, Sendable {
    /// The recorder's name in the log.
    public let name: SourceName
    private let path: String
    private let kind: CaptureKind?
    private let keepGoing: Bool
    private let doubt: (@Sendable (String) -> Void)?

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - kind: the kind of the frames; `nil` for the one kind that fits.
    ///   - keepGoing: whether to pass over lines that are not capture lines, instead of refusing the capture.
    ///   - doubt: called at most once, with a warning for people if some frames do not fit the given kind.
    public init(
        path: String,
        kind: CaptureKind? = nil,
        name: SourceName,
        keepGoing: Bool = false,
        doubt: (@Sendable (String) -> Void)? = nil
    ) {
        self.path = path
        self.kind = kind
        self.name = name
        self.keepGoing = keepGoing
        self.doubt = doubt
    }

    /// Reads the whole capture once, so that nothing of a broken one is appended, and begins again. Nothing is taken
    /// from `history`: the log skips the keys that it holds (I4).
    ///
    /// - Throws: `IngestError` with code `io`, `invalidCapture` naming file and line, or `unknownKind`.
    public func drafts(after history: RecordedHistory) throws -> CaptureDrafts {
        let file = try CaptureFile(path: path)
        let check = try CaptureCheck(file, kind: kind, keepGoing: keepGoing, isFitAsked: doubt != nil)
        if let text = check.fit?.doubt(file.name) { doubt?(text) }
        return CaptureDrafts(file, kind: check.kind, firstTime: check.firstTime, source: name)
    }
}

/// The result of the first reading of a capture.
struct CaptureCheck {
    let kind: CaptureKind
    /// The `t_ms` of the first line that can be read, in milliseconds since 1970 UTC; 0 if none can. The beginning of
    /// every key.
    let firstTime: Int64
    /// How the frames fit the given kind; `nil` if none was given, or nobody wants to know.
    let fit: CaptureFit?

    /// Reads the whole file.
    ///
    /// - Throws: as `CaptureSource.drafts(after:)`.
    init(_ file: CaptureFile, kind: CaptureKind?, keepGoing: Bool, isFitAsked: Bool) throws {
        var guess = CaptureKindGuess()
        var fit = isFitAsked ? kind.map(CaptureFit.init) : nil
        // The first line of each shape: whether they fit a kind is known only once all frames have been seen.
        var firsts: [(number: Int, line: CaptureLine)] = []
        var lines = file.lines()
        while let line = try lines.next() {
            do throws(CaptureFault) {
                let looksAtFrames = kind == nil ? guess.looksAtFrames : fit != nil
                let parsed = try line.parsed(decodesFrame: looksAtFrames)
                if let fault = kind.flatMap(parsed.fault) { throw CaptureFault(reason: fault) }
                if !firsts.contains(where: { $0.line.shape == parsed.shape }) { firsts.append((line.number, parsed)) }
                if kind == nil { guess.look(at: parsed) } else { fit?.look(at: parsed, number: line.number) }
            } catch {
                if !keepGoing { throw Self.refusal(of: line.number, in: file, error.reason) }
            }
        }
        let found = try kind ?? guess.kind(of: file.name)
        for (number, line) in firsts where !keepGoing {
            if let fault = line.fault(in: found) { throw Self.refusal(of: number, in: file, fault) }
        }
        self.kind = found
        firstTime = firsts.first { $0.line.fault(in: found) == nil }?.line.milliseconds ?? 0
        self.fit = fit
    }

    private static func refusal(of number: Int, in file: CaptureFile, _ reason: String) -> IngestError {
        CaptureFile.error(
            .invalidCapture,
            "\(file.name):\(number)",
            "\(reason); nothing was appended",
            advice: "mend the line, or pass over it with --keep-going"
        )
    }
}

extension CaptureLineReader.Line {
    /// The line's content.
    ///
    /// - Parameter decodesFrame: as in `CaptureLine`.
    /// - Throws: `CaptureFault` if it is no capture line.
    func parsed(decodesFrame: Bool = true) throws(CaptureFault) -> CaptureLine {
        if isTooLong {
            throw CaptureFault(reason: "the line is longer than \(CaptureLineReader.lineBytesMax >> 20) MiB")
        }
        let result = bytes.withUnsafeBufferPointer { line in
            Result { () throws(CaptureFault) in try CaptureLine(parsing: line, decodesFrame: decodesFrame) }
        }
        do throws(CaptureFault) {
            return try result.get()
        } catch {
            throw isUnterminated ? CaptureFault(reason: "the file ends within the line: \(error.reason)") : error
        }
    }
}

/// The drafts of one run over a capture. Reads the file a second time, a line at a time, so memory does not grow with
/// the capture.
public struct CaptureDrafts: DraftSequence {
    private let file: CaptureFile
    private let kind: CaptureKind
    private let firstTime: Int64
    private let source: SourceName
    private var lines: CaptureLineReader
    /// Cuts the pieces of the current connection into events; only for kind sse.
    private var stream = EventStreamSplitter()
    /// The same for the streams of a capture of any app, by their paths.
    private var streams: [String: EventStreamSplitter] = [:]
    /// The number of the last event of a stream, counted through all connections.
    private var streamEventCount = 0
    /// The items of the last line that are not given out yet: a piece of a stream may complete several events, or none.
    private var waiting: ArraySlice<SourceItem> = []

    init(_ file: CaptureFile, kind: CaptureKind, firstTime: Int64, source: SourceName) {
        self.file = file
        self.kind = kind
        self.firstTime = firstTime
        self.source = source
        lines = file.lines()
    }

    /// The next event, or a line that was passed over.
    public mutating func next() throws -> SourceItem? {
        while true {
            if !waiting.isEmpty { return waiting.removeFirst() }
            guard let line = try lines.next() else {
                waiting = try finishStream()[...]
                return waiting.popFirst()
            }
            let parsed: CaptureLine
            do throws(CaptureFault) {
                parsed = try line.parsed()
                if let fault = parsed.fault(in: kind) { throw CaptureFault(reason: fault) }
            } catch {
                return .skipped(IngestIssue(place: "\(file.name):\(line.number)", reason: error.reason))
            }
            // A line of most kinds is one event, which needs no list.
            if kind != .sse, case .frame(let direction, let bytes) = parsed.content {
                let attributes = direction == .in ? Self.incoming : Self.outgoing
                return .draft(try frame(parsed, line.number, attributes).redacted(payload: bytes))
            }
            waiting = try items(of: parsed, line.number)[...]
        }
    }

    private static let incoming: Attributes = ["dir": "in"]
    private static let outgoing: Attributes = ["dir": "out"]

    /// The items of one line.
    private mutating func items(of parsed: CaptureLine, _ number: Int) throws -> [SourceItem] {
        switch parsed.content {
        case .link(let state, let code, let path):
            let link = try self.link(state, code, path, parsed, number)
            // The end of the stream comes before the link, as it did on the connection.
            if let path { return try finishStream(at: path) + [.draft(link)] }
            return try finishStream() + [.draft(link)]
        case .answer(.in, let path, nil, let bytes):
            return try bytes.withUnsafeBufferPointer { bytes in
                streams[path, default: EventStreamSplitter()].push(bytes, at: parsed.recordedAt)
            }
            .map { try streamItem($0, path: path) }
        case .answer(let direction, let path, let status, let bytes):
            var pairs = [
                Attributes.Pair(name: "dir", value: direction.rawValue), Attributes.Pair(name: "path", value: path),
            ]
            if let status { pairs.append(Attributes.Pair(name: "status", value: status)) }
            var draft = try frame(parsed, number, Attributes(pairs))
            draft.kind = EventKind(.httpAnswer)
            return [.draft(try draft.redacted(payload: bytes))]
        case .observed(let bytes):
            var draft = frame(parsed, number, .none)
            draft.kind = .clientObserved
            return [.draft(try draft.redacted(payload: bytes))]
        case .frame(_, let bytes): return try push(bytes, at: parsed.recordedAt)
        case .file(let path, let isRemoval, let bytes):
            let attributes = try Attributes([
                Attributes.Pair(name: "path", value: path),
                Attributes.Pair(name: "op", value: isRemoval ? "remove" : "write"),
            ])
            return [.draft(try frame(parsed, number, attributes).redacted(payload: bytes))]
        }
    }

    /// The events that a piece of a stream completes.
    private mutating func push(_ bytes: [UInt8], at time: Timestamp) throws -> [SourceItem] {
        try bytes.withUnsafeBufferPointer { stream.push($0, at: time) }.map { try streamItem($0) }
    }

    /// Ends a connection's stream, and discards an unfinished event.
    private mutating func finishStream() throws -> [SourceItem] {
        let last = try stream.end().map { [try streamItem($0)] } ?? []
        return try last + streams.keys.sorted().flatMap { try finishStream(at: $0) }
    }

    /// Ends the stream at a path, and discards an unfinished event.
    private mutating func finishStream(at path: String) throws -> [SourceItem] {
        guard var stream = streams.removeValue(forKey: path) else { return [] }
        return try stream.end().map { [try streamItem($0, path: path)] } ?? []
    }

    /// An event of a stream, with the next number. Its time is that of the line that completed it.
    private mutating func streamItem(_ event: EventStreamSplitter.Event, path: String? = nil) throws -> SourceItem {
        streamEventCount += 1
        let frame = FrameDraft(
            recordedAt: event.completedAt,
            source: source,
            kind: .serverSentEvent,
            key: "\(firstTime)/e/\(streamEventCount)",
            attributes: try path.map { try Attributes([Attributes.Pair(name: "path", value: $0)]) } ?? .none
        )
        switch event.content {
        case .whole(let bytes): return .draft(try frame.redacted(payload: bytes))
        case .oversize(let length, let hash): return .draft(try frame.oversize(length: length, hash: hash))
        }
    }

    /// The event of a line but for its payload; the line's number makes the key.
    private func frame(_ line: CaptureLine, _ number: Int, _ attributes: Attributes) -> FrameDraft {
        FrameDraft(
            recordedAt: line.recordedAt,
            source: source,
            kind: kind.eventKind,
            key: "\(firstTime)/\(number)",
            attributes: attributes
        )
    }

    /// The event of a line that opens or closes a connection.
    private func link(
        _ state: String,
        _ code: String?,
        _ path: String?,
        _ line: CaptureLine,
        _ number: Int
    ) throws -> DraftEvent {
        var attributes = [Attributes.Pair(name: "link", value: state)]
        if let code { attributes.append(Attributes.Pair(name: "code", value: code)) }
        if let path { attributes.append(Attributes.Pair(name: "path", value: path)) }
        return try FrameDraft(
            recordedAt: line.recordedAt,
            source: source,
            kind: .recorderLink,
            key: "\(firstTime)/\(number)",
            attributes: Attributes(attributes)
        ).draft(payload: [])
    }
}
