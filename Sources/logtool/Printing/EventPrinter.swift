import EventLog
import Joining
import Projections

/// Prints events one by one: as lines for people, as one JSON array, or as one JSON object per line. `begin` and `end`
/// must surround all events.
final class EventPrinter {
    let output: StandardOutput
    private let form: ListForm
    /// The payload is printed whole only if requested; its size and title always are.
    private let showsPayload: Bool
    /// Tells where the events of several logs come from; `nil` for one log.
    private let joined: JoinedLog?
    private var isFirst = true

    /// True if no event was printed yet.
    var isEmpty: Bool { isFirst }

    init(output: StandardOutput, form: ListForm, showsPayload: Bool, joined: JoinedLog? = nil) {
        self.output = output
        self.form = form
        self.showsPayload = showsPayload
        self.joined = joined
    }

    /// Opens the list.
    func begin() throws {
        if form == .document { try output.write("[".utf8) }
    }

    /// Closes the list and flushes.
    func end() throws {
        if form == .document { try output.line(isFirst ? "]" : "\n]") }
        try output.flush()
    }

    /// Prints one event.
    func print(_ envelope: Envelope, payload: UnsafeRawBufferPointer) throws {
        switch form {
        case .text: try printText(envelope, payload: payload)
        case .document:
            try output.write((isFirst ? "\n" : ",\n").utf8)
            try output.write(json(envelope, payload: payload).text.utf8)
        case .lines:
            try output.line(json(envelope, payload: payload).text)
        }
        isFirst = false
    }

    /// Prints the columns' names, above the first event. The widths are those of `printText`; `details` comes last,
    /// because it has no limit.
    private func printColumns() throws {
        let names = [("event", 6), ("recorded (UTC)", 23), ("source", 10), ("kind", 18), ("size", 9), ("details", 0)]
        let columns = names.map { DisplayText.padded($0.0, to: $0.1) }.joined(separator: "  ")
        try output.line(output.style.text(columns, .quiet))
    }

    /// Prints an event in columns, with its bytes below if they are requested. Bytes that are not UTF-8 show as U+FFFD
    /// here; JSON has them in base64.
    private func printText(_ envelope: Envelope, payload: UnsafeRawBufferPointer) throws {
        // Not in `begin`, so that an empty list prints nothing.
        if isFirst { try printColumns() }
        let style = output.style
        let title = FrameTitle.title(of: envelope.kind, payload: payload)
        let columns = [
            DisplayText.padded(envelope.sequence.description, to: 6),
            style.text(DisplayText.padded(TimeText.full(envelope.recordedAt), to: 23), .quiet),
            style.text(DisplayText.padded(DisplayText.escaped(envelope.source.rawValue), to: 10), .author),
            DisplayText.padded(DisplayText.escaped(envelope.kind.rawValue), to: 18),
            DisplayText.padded(ByteCountText.text(payload.count), to: 9),
            DisplayText.escaped(
                (origin(of: envelope.sequence) + [Self.details(of: envelope, title: title)]).joined(separator: " ")
            ),
        ]
        try output.line(columns.joined(separator: "  ").trimmingTrailingSpaces())
        guard showsPayload else { return }
        for line in String(decoding: payload, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            try output.line("        " + DisplayText.escaped(String(line)))
        }
    }

    /// The log and the sequence there that an event of several logs comes from.
    private func origin(of sequence: SequenceNumber) -> [String] {
        joined?.origin(of: sequence).map { ["\($0.log):\($0.sequence)"] + ($0.isRedacted ? ["(redacted)"] : []) } ?? []
    }

    /// What a reader looks for first: the frame's own name, then attributes and key.
    private static func details(of envelope: Envelope, title: String?) -> String {
        var details = title.map { [DisplayText.firstLine(of: $0).line] } ?? []
        // A key that begins with its connection tells it.
        let told =
            envelope.key.flatMap { key in envelope.attributes["connection"].map { key.rawValue.contains($0) } } ?? false
        details += envelope.attributes.pairs.lazy.filter { !told || $0.name != "connection" }.map {
            "\($0.name)=\($0.value)"
        }
        if let key = envelope.key { details.append("key=\(key)") }
        if envelope.holding == .redacted { details.append("(redacted)") }
        return details.joined(separator: " ")
    }

    /// An event as in `docs/cli-json.md`. `frame` is for people: programs read `kind` and the payload.
    private func json(_ envelope: Envelope, payload: UnsafeRawBufferPointer) -> JSONValue {
        var object = EventJSON.object(for: envelope)
        if let origin = joined?.origin(of: envelope.sequence) {
            object["log"] = .string(origin.log)
            object["logSequence"] = .string(origin.sequence.description)
            if origin.isRedacted { object["redacted"] = .bool(true) }
        }
        object["frame"] = .text(FrameTitle.title(of: envelope.kind, payload: payload))
        object["bytes"] = .int(payload.count)
        if showsPayload { EventJSON.add(payload, to: &object) }
        return .object(object)
    }
}
