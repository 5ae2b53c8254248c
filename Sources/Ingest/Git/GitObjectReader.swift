/// Reads the output of `git cat-file --batch`: for each request a header line, the object's bytes and a line feed.
struct GitObjectReader {
    /// The line before an object's bytes.
    struct Header {
        let type: String
        let size: Int
    }

    let output: PipeReader

    /// The largest object, in bytes, whose bytes are read. No object that is wanted is larger; a repository must not
    /// choose how much memory is used.
    static let sizeMax = 64 << 20

    /// The header of the next object; `nil` if the object is missing or the output ends. Its bytes must be read or
    /// skipped before the next call.
    func header() throws(IngestError) -> Header? {
        guard let line = try output.read(upTo: 0x0A) else { return nil }
        let fields = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        guard fields.count == 3, let size = Int(fields[2]), size >= 0 else { return nil }
        return Header(type: fields[1], size: size)
    }

    /// The bytes after a header, and the line feed behind them; `nil` if the output ends before or the object is larger
    /// than `sizeMax`.
    func bytes(_ header: Header) throws(IngestError) -> [UInt8]? {
        guard header.size <= Self.sizeMax, let bytes = try output.read(count: header.size),
            try output.skip(count: 1)
        else { return nil }
        return bytes
    }

    /// Skips the bytes after a header, and the line feed; false if the output ends before.
    func skip(_ header: Header) throws(IngestError) -> Bool {
        guard try output.skip(count: header.size) else { return false }
        return try output.skip(count: 1)
    }
}

extension GitObjectReader {
    /// The size of the next object, and its bytes if there are at most `sizeMax`; `nil` if it cannot be read.
    func blob(sizeMax: Int) throws(IngestError) -> (size: Int, bytes: [UInt8]?)? {
        guard let found = try header() else { return nil }
        if found.size > sizeMax {
            let isSkipped = try skip(found)
            return isSkipped ? (found.size, nil) : nil
        }
        guard let content = try bytes(found) else { return nil }
        return (found.size, content)
    }
}
