import CZlib
import EventLog

/// Compresses and decompresses whole pieces of data as gzip members (RFC 1952), which browsers read without a library.
enum Gzip {
    /// zlib's number for the largest window with gzip's header and checksum.
    private static let windowBits: Int32 = 15 + 16

    /// One member with the bytes.
    ///
    /// - Throws: `EventLogError` with code `io` if there is no memory for it.
    static func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
        else {
            throw error("compress", "there is no memory for it")
        }
        defer { deflateEnd(&stream) }
        let bound = Int(deflateBound(&stream, UInt(bytes.count)))
        let (code, result) = run(&stream, bytes, room: bound) { deflate(&$0, Z_FINISH) }
        guard code == Z_STREAM_END else { throw error("compress", "zlib says \(code)") }
        return result
    }

    /// The bytes of one member, at most so many.
    ///
    /// - Throws: `EventLogError` with code `io` for what is no member, is damaged, or expands to more.
    static func decompressed(_ member: [UInt8], bytesMax: Int) throws -> [UInt8] {
        var room = min(bytesMax, max(1 << 16, member.count * 8))
        while true {
            var stream = z_stream()
            guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
                throw error("decompress", "there is no memory for it")
            }
            defer { inflateEnd(&stream) }
            let (code, result) = run(&stream, member, room: room) { inflate(&$0, Z_FINISH) }
            if code == Z_STREAM_END { return result }
            guard code == Z_BUF_ERROR, result.count == room, room < bytesMax else {
                throw error("decompress", result.count == bytesMax ? "it is too large" : "it is damaged")
            }
            room = min(bytesMax, room * 4)
        }
    }

    /// Runs one step over all input into a buffer of a size.
    private static func run(
        _ stream: inout z_stream,
        _ input: [UInt8],
        room: Int,
        _ step: (inout z_stream) -> Int32
    ) -> (code: Int32, output: [UInt8]) {
        var (input, code) = (input, Z_OK)
        let output = [UInt8](unsafeUninitializedCapacity: room) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(room)
                code = step(&stream)
            }
            count = room - Int(stream.avail_out)
        }
        return (code, output)
    }

    private static func error(_ operation: String, _ reason: String) -> EventLogError {
        EventLogError(.io, operation: operation, object: "", reason: reason)
    }
}
