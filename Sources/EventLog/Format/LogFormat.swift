/// The file `FORMAT` of a log: its format version, its identity, and the program version that reads it. Written as the last step of
/// a log's birth (I8), and anew before the first blocks of sealed events take effect.
struct LogFormat: Equatable {
    /// The latest format version that this program reads, and that of logs with blocks of sealed events.
    static let version = 2
    /// The format version of all other logs.
    static let openVersion = 1
    /// The lowest program version that reads what this program writes.
    static let readerVersion = "0.1.0"
    static let fileName = "FORMAT"

    /// Sixteen random bytes that identify this log; export, import and backup keep them.
    let identity: [UInt8]
    /// The log's format version.
    let version: Int

    /// The bytes of the file.
    var bytes: [UInt8] {
        Array("eventlog \(version)\nidentity \(hexText(identity))\nreader \(Self.readerVersion)\n".utf8)
    }

    /// Reads the file; `path` is the log's, for messages. Unknown fields are ignored.
    ///
    /// - Throws: `EventLogError` with code `newerFormat` or `damaged`.
    init(_ bytes: [UInt8], path: String) throws {
        let fields = Self.fields(of: bytes)
        // The version comes first: a newer format may write the other fields in another way.
        guard let text = fields["eventlog"], let version = Int(text), version > 0 else {
            throw Self.damaged(path, "its first line is not \"eventlog\" and a number")
        }
        guard version <= Self.version else { throw Self.newer(path, version, fields["reader"]) }
        guard let hex = fields["identity"], let identity = bytesOfHex(hex), identity.count == 16 else {
            throw Self.damaged(path, "its identity is not 32 hex digits")
        }
        (self.identity, self.version) = (identity, version)
    }

    init(identity: [UInt8], isSealed: Bool = false) {
        (self.identity, version) = (identity, isSealed ? Self.version : Self.openVersion)
    }

    /// The lines `NAME VALUE`, by name. Of several lines with one name the first counts.
    private static func fields(of bytes: [UInt8]) -> [Substring: Substring] {
        var fields: [Substring: Substring] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2, fields[parts[0]] == nil { fields[parts[0]] = parts[1] }
        }
        return fields
    }

    private static func damaged(_ path: String, _ reason: String) -> EventLogError {
        EventLogError(
            .damaged,
            operation: "open log at",
            object: path,
            reason: "the file FORMAT cannot be read: \(reason)",
            advice: "restore it from a backup; it says the log's identity"
        )
    }

    private static func newer(_ path: String, _ version: Int, _ reader: Substring?) -> EventLogError {
        EventLogError(
            .newerFormat,
            operation: "open log at",
            object: path,
            reason: "format version \(version) is newer than this program reads (\(Self.version))",
            // Cut off, because it may be any text.
            advice: reader.map { "use version \($0.prefix(40)) or later" } ?? "use a newer version"
        )
    }
}

/// Bytes as lower-case hex digits.
func hexText(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// The bytes of a text of hex digits of either case; `nil` if it is not one.
func bytesOfHex(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.map { digit -> UInt8? in
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for pair in stride(from: 0, to: digits.count, by: 2) {
        guard let high = digits[pair], let low = digits[pair + 1] else { return nil }
        bytes.append(high << 4 | low)
    }
    return bytes
}
