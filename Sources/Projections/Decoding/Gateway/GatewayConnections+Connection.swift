import EventLog
import JSON

extension GatewayConnections {
    /// Identifies a dispatch within its connection: `s`, and the hash of its bytes under the log's `FrameKey` (I26).
    /// Equal numbers with other bytes are two dispatches.
    ///
    /// Two words instead of one `UInt128`, which needs an alignment of 16 bytes: a `Dispatch` takes 32 bytes and not
    /// 48.
    struct Mark: Hashable, Sendable, BitwiseCopyable {
        let s: Int64
        let high: UInt64
        let low: UInt64

        init(s: Int64, hash: UInt128) {
            self.s = s
            high = UInt64(truncatingIfNeeded: hash >> 64)
            low = UInt64(truncatingIfNeeded: hash)
        }

        var hash: UInt128 { UInt128(high) << 64 | UInt128(low) }
    }

    /// A dispatch and the sequence of the first event that carried it.
    struct Dispatch: BitwiseCopyable, Sendable {
        let mark: Mark
        let sequence: UInt64
    }

    /// One connection and the dispatches seen on it.
    struct Connection: Sendable {
        /// The recorder's name for the connection; `nil` if the recorder gave none.
        var name: String?
        /// The sequence of the event that began it. No two connections share it, so it identifies the connection in
        /// `holes`.
        let start: UInt64
        /// The greatest `s` so far; `nil` before the first dispatch. Forgetting dispatches does not lower it.
        var greatest: Int64?
        /// When the last dispatch that was no repeat was recorded.
        var lastAt = Timestamp(seconds: 0)
        /// When the last frame without a number was recorded, such as the answer to a heartbeat; `nil` before the
        /// first.
        var controlAt: Timestamp?
        /// When changes began to come in; `nil` before.
        var heardAt: Timestamp?
        /// The first `s`; `nil` before the first dispatch.
        var first: Int64?
        /// The session that READY or RESUMED gave the connection; `nil` before.
        var session: String?
        /// The session that the recorder wants to go on with, and the last `s` that it had of it; `nil` without a
        /// RESUME.
        var resume: Resume?
        /// In log order, each mark once.
        private(set) var dispatches: [Dispatch] = []
        /// The first sequence of each mark. `nil` while `s` only grows: then a binary search in `dispatches` finds it,
        /// and a connection of 100,000 dispatches needs no table.
        private var sequences: [Mark: UInt64]?

        init(name: String?, start: UInt64) {
            self.name = name
            self.start = start
        }

        /// The sequence of the first event with this mark; `nil` if the mark is new.
        @inline(__always)
        func sequence(of mark: Mark) -> UInt64? {
            guard let last = dispatches.last else { return nil }
            // Nearly every dispatch has a greater `s` than the last one, which proves it new without a search.
            if let sequences { return sequences[mark] }
            return mark.s > last.mark.s ? nil : search(mark)
        }

        /// Binary search by `s`, which is distinct and ascending as long as `sequences` is `nil`.
        private func search(_ mark: Mark) -> UInt64? {
            assert(sequences == nil, "numbers that came out of order are found by the table")
            var (low, high) = (0, dispatches.count)
            while low < high {
                let middle = (low + high) / 2
                if dispatches[middle].mark.s < mark.s { low = middle + 1 } else { high = middle }
            }
            assert(low == 0 || dispatches[low - 1].mark.s < mark.s, "the search ends after all smaller numbers")
            return low < dispatches.count && dispatches[low].mark == mark ? dispatches[low].sequence : nil
        }

        /// Remembers a new mark. If its `s` is the first that does not grow, builds the table, O(dispatches).
        @inline(__always)
        mutating func note(_ mark: Mark, at sequence: UInt64) {
            if sequences != nil || (dispatches.last.map { $0.mark.s >= mark.s } ?? false) { index(mark, sequence) }
            dispatches.append(Dispatch(mark: mark, sequence: sequence))
            if dispatches.count >= 2 * markCountMax { forget() }
        }

        private mutating func index(_ mark: Mark, _ sequence: UInt64) {
            if sequences == nil { indexAll() }
            sequences?[mark] = sequence
        }

        /// Builds the table from `dispatches`.
        private mutating func indexAll() {
            sequences = [:]
            for dispatch in dispatches { sequences?[dispatch.mark] = dispatch.sequence }
        }

        /// Forgets all dispatches; the next one may have any number.
        mutating func forgetAll() {
            (dispatches, sequences) = ([], nil)
        }

        /// Forgets the older half. Half and not one at a time: removing from the front of an array moves the rest.
        private mutating func forget() {
            assert(dispatches.count >= 2 * markCountMax, "the last dispatches stay: only the older half is forgotten")
            for dispatch in dispatches.prefix(markCountMax) { sequences?[dispatch.mark] = nil }
            dispatches.removeFirst(markCountMax)
        }
    }

    /// What a RESUME asks for.
    struct Resume: Codable, Sendable {
        let session: String
        let number: Int64
    }
}

extension GatewayConnections.Dispatch {
    /// Writes `[s,"hash","sequence"]`, the hash in hexadecimal digits.
    func write(to writer: inout CanonicalWriter) {
        writer.raw("[")
        if mark.s < 0 { writer.raw("-") }
        writer.number(mark.s.magnitude)
        writer.raw(",\"")
        if mark.high > 0 { writer.hex(mark.high) }
        writer.hex(mark.low, digits: mark.high > 0 ? 16 : 1)
        writer.raw("\",\"")
        writer.number(sequence)
        writer.raw("\"]")
    }

    /// Reads exactly what `write` writes of a dispatch; `nil` for any other text.
    init?(written text: UnsafeRawBufferPointer) {
        var index = 0
        func take(_ byte: UInt8) -> Bool {
            guard index < text.count, text[index] == byte else { return false }
            index += 1
            return true
        }
        /// The digits of a base up to any other byte; `nil` without a digit, or if the number does not fit.
        func number<Number: FixedWidthInteger>(_ base: Number) -> Number? {
            let start = index
            var number: Number = 0
            while index < text.count, let digit = Self.digit(text[index]), digit < base {
                let (product, isTooMuch) = number.multipliedReportingOverflow(by: base)
                let (sum, isMore) = product.addingReportingOverflow(Number(digit))
                if isTooMuch || isMore { return nil }
                number = sum
                index += 1
            }
            return index > start ? number : nil
        }
        guard take(UInt8(ascii: "[")) else { return nil }
        let isNegative = take(UInt8(ascii: "-"))
        guard let s: Int64 = number(10), !isNegative || s > 0, take(UInt8(ascii: ",")), take(UInt8(ascii: "\"")),
            let hash: UInt128 = number(16), take(UInt8(ascii: "\"")), take(UInt8(ascii: ",")), take(UInt8(ascii: "\"")),
            let sequence: UInt64 = number(10), take(UInt8(ascii: "\"")), take(UInt8(ascii: "]")), index == text.count
        else { return nil }
        self.init(mark: GatewayConnections.Mark(s: isNegative ? -s : s, hash: hash), sequence: sequence)
    }

    /// The value of a hexadecimal digit.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Reads the value of what `write` writes.
    init?(_ fact: JSONValue) {
        guard let parts = fact.array, parts.count == 3, let s = parts[0].number?.int64,
            let sequence = parts[2].string.flatMap({ UInt64($0) }),
            let hash = parts[1].string.flatMap({ UInt128($0, radix: 16) })
        else { return nil }
        self.init(mark: GatewayConnections.Mark(s: s, hash: hash), sequence: sequence)
    }
}

extension GatewayConnections.Connection {
    /// Every member except the dispatches.
    var members: JSONObject {
        [
            "name": .text(name),
            "start": .string(String(start)),
            "greatest": greatest.map { .int($0) },
            "last": .int(lastAt.microseconds),
            "control": controlAt.map { .int($0.microseconds) },
            "heard": heardAt.map { .int($0.microseconds) },
            "first": first.map { .int($0) },
            "session": session.map { .string($0) },
            "resume": resume.map { .array([.string($0.session), .int($0.number)]) },
        ]
    }
}

/// Saves about 20 bytes a dispatch, as differences from the one before: a connection may have a hundred thousand.
///
/// The table of marks is not saved. A flag records that it existed, and the load builds it again.
extension GatewayConnections.Connection: Codable {
    private enum CodingKeys: CodingKey {
        case name, start, greatest, lastAt, controlAt, heardAt, first, session, resume, isOutOfOrder, dispatches
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(name, forKey: .name)
        try members.encode(start, forKey: .start)
        try members.encodeIfPresent(greatest, forKey: .greatest)
        try members.encode(lastAt, forKey: .lastAt)
        try members.encodeIfPresent(controlAt, forKey: .controlAt)
        try members.encodeIfPresent(heardAt, forKey: .heardAt)
        try members.encodeIfPresent(first, forKey: .first)
        try members.encodeIfPresent(session, forKey: .session)
        try members.encodeIfPresent(resume, forKey: .resume)
        try members.encode(sequences != nil, forKey: .isOutOfOrder)
        try members.encode(dispatchBytes, forKey: .dispatches)
    }

    /// The dispatches in log order. Each takes the difference of `s` and of the sequence to the one before (0 before
    /// the first), as signed variable-length numbers, and 16 bytes of hash.
    ///
    /// Differences wrap, so numbers of any size come back. The low word of the hash comes first: that is a `UInt128` in
    /// the memory of a little-endian machine, as `read` loads it.
    var dispatchBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(dispatches.count * 20)
        var last = (s: Int64(0), sequence: UInt64(0))
        for dispatch in dispatches {
            bytes.appendSigned(dispatch.mark.s &- last.s)
            bytes.appendSigned(Int64(bitPattern: dispatch.sequence &- last.sequence))
            withUnsafeBytes(of: (dispatch.mark.low, dispatch.mark.high)) { bytes.append(contentsOf: $0) }
            last = (dispatch.mark.s, dispatch.sequence)
        }
        return bytes
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let name = try members.decodeIfPresent(String.self, forKey: .name)
        self.init(name: name, start: try members.decode(UInt64.self, forKey: .start))
        greatest = try members.decodeIfPresent(Int64.self, forKey: .greatest)
        lastAt = try members.decode(Timestamp.self, forKey: .lastAt)
        controlAt = try members.decodeIfPresent(Timestamp.self, forKey: .controlAt)
        heardAt = try members.decodeIfPresent(Timestamp.self, forKey: .heardAt)
        first = try members.decodeIfPresent(Int64.self, forKey: .first)
        session = try members.decodeIfPresent(String.self, forKey: .session)
        resume = try members.decodeIfPresent(GatewayConnections.Resume.self, forKey: .resume)
        let isOutOfOrder = try members.decode(Bool.self, forKey: .isOutOfOrder)
        let isWhole = try members.decode([UInt8].self, forKey: .dispatches).withUnsafeBytes { read($0) }
        guard isWhole else {
            throw DecodingError.dataCorruptedError(forKey: .dispatches, in: members, debugDescription: "cut short")
        }
        if isOutOfOrder { indexAll() }
    }

    /// Appends what `dispatchBytes` wrote; false if the bytes end within a dispatch.
    private mutating func read(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var numbers = NumberReader(bytes)
        var last = (s: Int64(0), sequence: UInt64(0))
        while !numbers.isAtEnd {
            guard let s = numbers.signed(), let step = numbers.signed(), let hash = numbers.bytes(16) else {
                return false
            }
            last = (last.s &+ s, last.sequence &+ UInt64(bitPattern: step))
            // Unaligned, because the numbers before the hash have any length. `bytes(16)` checked the bound.
            let mark = GatewayConnections.Mark(s: last.s, hash: hash.loadUnaligned(as: UInt128.self))
            dispatches.append(GatewayConnections.Dispatch(mark: mark, sequence: last.sequence))
        }
        return true
    }
}
