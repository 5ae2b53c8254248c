import EventLog
import JSON

/// One line of a capture (docs/events.md).
struct CaptureLine {
    enum Content {
        /// A frame, or a piece of a stream.
        case frame(FrameDirection, [UInt8])
        /// A file that was written, with its bytes, or removed.
        case file(path: String, isRemoval: Bool, [UInt8])
        /// An answer of HTTP or, outgoing, the body of a request; a piece of the event stream at a path if it has no status.
        case answer(FrameDirection, path: String, status: String?, [UInt8])
        /// What a client showed: a JSON object.
        case observed([UInt8])
        /// A connection that was opened or closed, at a path where the capture has several.
        case link(state: String, code: String?, path: String?)
    }

    /// The time of receipt, in microseconds since 1970 UTC.
    let recordedAt: Timestamp
    /// The whole milliseconds of `recordedAt`.
    var milliseconds: Int64 { recordedAt.microseconds / 1000 }
    let content: Content

    /// Lines of one shape fit the same kinds.
    enum Shape: Hashable {
        case link, incoming, outgoing, file, answer, observed
    }

    var shape: Shape {
        switch content {
        case .link: .link
        case .frame(let direction, _): direction == .in ? .incoming : .outgoing
        case .file: .file
        case .answer: .answer
        case .observed: .observed
        }
    }

    /// Why a capture of a kind cannot have this line; `nil` if it can.
    func fault(in kind: CaptureKind) -> String? {
        switch (content, kind) {
        case (.link, _), (.observed, _), (.file, .status): nil
        case (_, .observed): "\"observed\" is missing"
        case (.answer, let kind) where kind.isGeneric: nil
        case (.answer(.in, _, nil, _), .sse): nil
        case (.answer, .status): "\"op\" is missing"
        case (.answer, _):
            "a line with \"path\" belongs to a capture of kind ws, http, json or status, not \(kind.rawValue)"
        case (.frame, .status): "a line of a status capture has \"path\" and \"op\", not \"dir\""
        case (.frame(.out, _), .sse): "\"dir\" is \"out\", but a stream of events has nothing outgoing"
        case (.frame, _): nil
        case (.file, _): "a line with \"path\" and \"op\" belongs to a status capture, not to kind \(kind.rawValue)"
        }
    }
}

/// Why a line is not a capture line.
struct CaptureFault: Error, Hashable {
    let reason: String
}

extension CaptureLine {
    /// Reads one line, without its end. Ignores unknown members; a member that occurs twice is a fault.
    ///
    /// - Parameter decodesFrame: false to check `raw` only: bytes that are not empty are then one zero.
    init(parsing line: UnsafeBufferPointer<UInt8>, decodesFrame: Bool = true) throws(CaptureFault) {
        var members = CaptureMembers(decodesFrame: decodesFrame)
        do throws(JSONError) {
            try members.read(line)
        } catch {
            // The reader refuses bytes that are no UTF-8 as it comes to them. Wherever they are, they are named first.
            let place = UTF8Sequence.firstFault(in: line)
            guard place == line.count else {
                throw CaptureFault(reason: "byte \(place + 1) is not UTF-8; such frames need \"rawBase64\"")
            }
            throw CaptureFault(reason: "it is not one JSON object: \(error.reason) (byte \(error.offset + 1))")
        }
        try self.init(members)
    }

    /// Checks the members. The time is checked first, so a line without one is never taken for another fault.
    private init(_ members: CaptureMembers) throws(CaptureFault) {
        guard let time = members.milliseconds else { throw CaptureFault(reason: "\"t_ms\" is missing") }
        guard let recordedAt = Self.instant(time) else {
            throw CaptureFault(reason: "\"t_ms\" is no number of milliseconds since 1970 within range")
        }
        self.recordedAt = recordedAt
        content = try members.content()
    }

    /// The instant of a number of milliseconds; `nil` out of range. A fraction or exponent is read to the microsecond,
    /// which a `Double` holds exactly for times of this century.
    private static func instant(_ text: String) -> Timestamp? {
        if let whole = Int64(text) { return Timestamp(milliseconds: whole) }
        guard let value = Double(text), value.magnitude < 1e15 else { return nil }
        return Timestamp(microseconds: Int64((value * 1000).rounded()))
    }
}
