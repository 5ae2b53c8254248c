import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A HAR in memory: all bytes of one JSON document, and behind them those of the files that are attached to it. They
/// never change, so any thread may read them.
final class HARDocument: Sendable {
    /// The name in messages.
    let name: String
    private let bytes: [UInt8]
    private let documentCount: Int
    private let attachments: [String: Range<Int>]
    /// Where attached files lie: empty, or with a slash at its end; `nil` for standard input.
    private let folder: String?

    /// The most bytes that are read, attached files included; all of them are held in memory.
    static let byteCountMax = 1 << 30
    /// The operation's name in errors.
    private static let operation = "ingest har"

    /// Reads a file; `-` is standard input.
    ///
    /// - Throws: `IngestError` with code `io` if it cannot be read, and `invalidHAR` if it is a directory, empty, a ZIP
    ///   archive, or too large.
    init(path: String) throws {
        let file = try CaptureFile(path: path, operation: Self.operation, emptyCode: .invalidHAR)
        name = file.name
        guard file.size <= Self.byteCountMax else {
            throw Self.error(
                .invalidHAR,
                file.name,
                "it has \(file.size) bytes, at most \(Self.byteCountMax) are read",
                advice: "save fewer requests, or a shorter time"
            )
        }
        let document = try file.readWhole()
        guard !document.starts(with: [0x50, 0x4B, 0x03, 0x04]) else {
            throw Self.error(
                .invalidHAR,
                file.name,
                "it is a ZIP archive",
                advice: "unpack it, and give the .har inside"
            )
        }
        bytes = document
        documentCount = document.count
        attachments = [:]
        folder = path == "-" ? nil : String(path.reversed().drop { $0 != "/" }.reversed())
    }

    /// A copy with attached files, by their names. The document comes from elsewhere (C17): a name leads into the HAR's
    /// folder alone, no link is followed, and what is no file there counts as left out.
    ///
    /// - Throws: `IngestError` with code `invalidHAR` if they are too large.
    init(_ document: HARDocument, attaching names: some Sequence<String>) throws {
        (name, folder, documentCount) = (document.name, document.folder, document.documentCount)
        var (bytes, attachments) = (document.bytes, document.attachments)
        for attached in names where !attached.isEmpty && !attached.contains(where: { $0 == "/" || $0 == "\0" }) {
            let path = folder.map { $0 + attached }
            guard let content = path.flatMap({ InputFile.untrustedBytes(at: $0, bytesMax: Self.byteCountMax) }) else {
                continue
            }
            guard content.count <= Self.byteCountMax - bytes.count else {
                throw Self.error(
                    .invalidHAR,
                    name,
                    "it has more than \(Self.byteCountMax) bytes with its attached files",
                    advice: "save fewer requests, or a shorter time"
                )
            }
            attachments[attached] = bytes.count..<bytes.count + content.count
            bytes += content
        }
        (self.bytes, self.attachments) = (bytes, attachments)
    }

    /// Lends the bytes; the reader is valid only within `body`.
    func read<Result, Fault: Error>(_ body: (HARReader) throws(Fault) -> Result) throws(Fault) -> Result {
        let result = bytes.withUnsafeBufferPointer { buffer in
            Swift.Result { () throws(Fault) in
                try body(HARReader(bytes: buffer, documentCount: documentCount, attachments: attachments))
            }
        }
        return try result.get()
    }

    static func error(_ code: IngestError.Code, _ name: String, _ reason: String, advice: String = "") -> IngestError {
        IngestError(code, operation: operation, object: name, reason: reason, advice: advice)
    }
}

extension CaptureFile {
    /// All bytes up to `size`; fewer if the file was cut off meanwhile.
    fileprivate func readWhole() throws -> [UInt8] {
        var isRead = true
        // `initialized` grows with each read and never exceeds `size`, so the array holds only bytes that were read.
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            while initialized < size {
                let count = pread(
                    descriptor,
                    buffer.baseAddress.map { $0 + initialized },
                    size - initialized,
                    off_t(initialized)
                )
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    isRead = count == 0
                    return
                }
                initialized += count
            }
        }
        guard isRead else { throw systemError() }
        return bytes
    }
}
