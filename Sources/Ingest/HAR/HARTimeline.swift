import EventLog

/// The places in a HAR of the events to make, sorted by time.
///
/// Events of one connection keep the order of the file, even if their times contradict it. Each event is a small piece
/// that names its place in the file, because a HAR of 1 GiB may have millions of messages.
struct HARTimeline {
    /// An entry that is taken.
    struct Part {
        let entry: HAREntry
        let address: HARAddress
        /// The beginning of its events' keys: its start, a hash of its URL, and a number if these two occurred before.
        let name: String
        /// In microseconds since 1970 UTC, like `ended`.
        let started: Int64
        /// When its last byte came; `started` if that is not known.
        let ended: Int64
    }

    /// The kind of event that a piece becomes. `request` is the body of one; `stream` stands for all events of one body;
    /// `failure` closes, too.
    /// `missing` is the gap of a WebSocket whose messages the file lacks, `found` its end, where an earlier file of the
    /// same connection had none.
    enum What: UInt8 {
        case open, frame, event, request, answer, stream, close, failure, missing, found
    }

    /// One event, or the events of one stream.
    struct Piece {
        /// The time to sort by; never less than that of the previous piece of its connection.
        let time: Int64
        /// The index in `parts`.
        let part: Int32
        /// The message's number, from 1. An opening has 0; a closing that no message states has the greatest number.
        let number: Int32
        let what: What
        /// 32 bits are enough: no document is larger than `HARDocument.byteCountMax`.
        fileprivate let start: UInt32
        fileprivate let length: UInt32

        /// The message's range in the file.
        var range: Range<Int> { Int(start)..<Int(start) + Int(length) }
    }

    /// The entries that are taken, in the file's order.
    private(set) var parts: [Part] = []
    /// Sorted by time, then by part, then by number.
    private(set) var pieces: [Piece] = []
    /// The faults of the first reading, then those of this one.
    private(set) var faults: HARFaults
    /// How many parts begin with the same start and hash.
    private var names: [String: Int] = [:]

    /// Reads the entries that are taken, with every message.
    ///
    /// - Throws: the fault of an entry or message, unless `keepGoing`.
    init(
        _ candidates: [HARContents.Candidate],
        _ reader: HARReader,
        after faults: HARFaults,
        keepGoing: Bool
    ) throws(HARFault) {
        self.faults = faults
        for candidate in candidates {
            do throws(HARFault) {
                try add(candidate, reader, keepGoing)
            } catch {
                let fault = error.place.isEmpty ? error.at(entry: candidate.entry.number) : error
                try self.faults.add(fault, keepGoing: keepGoing)
            }
        }
        pieces.sort { ($0.time, $0.part, $0.number) < ($1.time, $1.part, $1.number) }
    }
}

extension HARTimeline {
    private mutating func add(
        _ candidate: HARContents.Candidate,
        _ reader: HARReader,
        _ keepGoing: Bool
    ) throws(HARFault) {
        let (entry, address) = (candidate.entry, candidate.address)
        // The attributes of an event have a limit together (I3); 512 bytes are room for the others.
        guard address.path.utf8.count <= EnvelopeLimits.attributeBytesMax - 512 else {
            throw HARFault("the path has \(address.path.utf8.count) bytes, too many for an attribute")
        }
        let started = try entry.started(reader)
        let ended = started + (try entry.elapsed(reader))
        let name = "\(started)-\(address.hash)"
        // Counted before an answer without a body is left out, so that a later export that has the body gives the same
        // names (I15).
        names[name, default: 0] += 1
        let count = names[name] ?? 1
        let isFirst = count == 1
        let part = Part(
            entry: entry,
            address: address,
            name: isFirst ? name : "\(name)-\(count)",
            started: started,
            ended: ended
        )
        let place = parts.count
        switch entry.content {
        case .socket(let messages):
            parts.append(part)
            if messages == nil {
                faults.add(HARFault(Self.lackOfMessages(entry)).at(entry: entry.number))
                append(.missing, started, place)
            } else {
                append(.found, started, place)
            }
            try addConnection(part, place, messages, reader, keepGoing) { (range) throws(HARFault) in
                let message = try HARMessage(range, reader)
                return (message.time, message.what)
            }
        case .stream(let events?) where Self.lack(of: entry) == nil:
            parts.append(part)
            try addConnection(part, place, events, reader, keepGoing) { (range) throws(HARFault) in
                (try HAREvent(range, reader).time, .event)
            }
        case .stream, .answer:
            let body = try entry.body(reader)
            if let reason = Self.lack(of: candidate, body: body) {
                return faults.add(HARFault(reason).at(entry: entry.number))
            }
            parts.append(part)
            if case .answer = entry.content {
                if candidate.kind == .raw, let asked = entry.asked, !(try reader.text(asked)).isEmpty {
                    append(.request, started, place, number: 0)
                }
                return append(.answer, ended, place)
            }
            append(.open, started, place, number: 0)
            append(.stream, ended, place)
            // An end that is not known is no event: the stream may have been open when the file was saved.
            if ended > started { append(.close, ended, place, number: .max) }
        }
    }

    private static func lackOfMessages(_ entry: HAREntry) -> String {
        guard let name = entry.attachment else { return "the WebSocket's messages are not in the file" }
        return "the WebSocket's messages are in \"\(name.prefix(100))\", which is no file beside the HAR"
    }

    /// Why an answer does not show the remote's state; `nil` if it does.
    private static func lack(of entry: HAREntry) -> String? {
        if entry.status == 0 { return "there was no answer" }
        if entry.isCached { return "the answer came out of the browser's cache" }
        switch entry.status {
        // The recorders keep a body with these statuses alone (docs/events.md).
        case 200...299, 400, 402...428, 430...499: break
        default: return "the answer has status \(entry.status) and says nothing of the state"
        }
        return nil
    }

    private static func lack(of candidate: HARContents.Candidate, body: [UInt8]) -> String? {
        if let lack = lack(of: candidate.entry) { return lack }
        guard candidate.entry.hasBody else { return "the answer's body is not in the file" }
        // 0x5B is `[`: PostgREST answers with a list, or with an object that tells of an error.
        let isRow = candidate.kind == .realtime && body.first { $0 > 0x20 } != 0x5B
        return isRow ? "the answer is no list of rows" : nil
    }

    /// Adds a connection and its messages. `read` returns a message's time and what to make of it, if anything.
    private mutating func addConnection(
        _ part: Part,
        _ place: Int,
        _ messages: Range<Int>?,
        _ reader: HARReader,
        _ keepGoing: Bool,
        read: (Range<Int>) throws(HARFault) -> (time: Int64?, what: What?)
    ) throws(HARFault) {
        append(.open, part.started, place, number: 0)
        guard let messages else { return }
        var elements = reader.elements(of: messages)
        // `clock` never runs backwards, to keep the order of the connection; `last` is the greatest time that a message
        // has.
        var (clock, last, number, isOpen) = (part.started, Int64.min, Int32(0), true)
        while let range = try elements.next() {
            number += 1
            do throws(HARFault) {
                let message = try read(range)
                if let time = message.time { (clock, last) = (max(clock, time), max(last, time)) }
                guard let what = message.what else { continue }
                let isEnd = what == .close || what == .failure
                // Only the first of several ends closes the connection.
                if isOpen || !isEnd { append(what, clock, place, number: number, range) }
                isOpen = isOpen && !isEnd
            } catch {
                try faults.add(error.at(entry: part.entry.number, message: Int(number)), keepGoing: keepGoing)
            }
        }
        // For a connection that was still open when the file was saved, `time` is only the time that opening took.
        if isOpen, last > .min, part.ended >= last { append(.close, max(clock, part.ended), place, number: .max) }
    }

    /// Adds a piece. `number` is 1 where an entry has a single event.
    private mutating func append(
        _ what: What,
        _ time: Int64,
        _ part: Int,
        number: Int32 = 1,
        _ range: Range<Int> = 0..<0
    ) {
        assert(range.upperBound <= HARDocument.byteCountMax, "a message's range fits in 32 bits")
        let (start, length) = (UInt32(clamping: range.lowerBound), UInt32(clamping: range.count))
        let piece = Piece(
            time: time,
            part: Int32(clamping: part),
            number: number,
            what: what,
            start: start,
            length: length
        )
        pieces.append(piece)
    }
}

extension HARMessage {
    /// What to make of the message; `nil` for nothing.
    fileprivate var what: HARTimeline.What? {
        switch content {
        case .frame: .frame
        case .end(let isFailure): isFailure ? .failure : .close
        case .control: nil
        }
    }
}
