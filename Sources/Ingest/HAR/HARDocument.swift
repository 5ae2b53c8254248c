#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A HAR in memory: all bytes of one JSON document. They never change, so any thread may read them.
final class HARDocument: Sendable {
    /// The name in messages.
    let name: String
    private let bytes: [UInt8]

    /// The largest file that is read, in bytes; the whole file is held in memory.
    static let byteCountMax = 1 << 30
    /// The operation's name in errors.
    private static let operation = "ingest har"

    /// Reads a file; `-` is standard input.
    ///
    /// - Throws: `IngestError` with code `io` if it cannot be read, and `invalidHAR` if it is a directory, empty or too
    ///   large.
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
        bytes = try file.readWhole()
    }

    /// Lends the bytes; the reader is valid only within `body`.
    func read<Result, Fault: Error>(_ body: (HARReader) throws(Fault) -> Result) throws(Fault) -> Result {
        let result = bytes.withUnsafeBufferPointer { buffer in
            Swift.Result { () throws(Fault) in try body(HARReader(bytes: buffer)) }
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
