#if Recorders
import EventLog
import NIOCore
import NIOHTTP1

/// Keeps a copy of a body in JSON while it passes, with its coding undone.
///
/// Of a body that expands to more than 64 MiB, the length and hash of the bytes as they were sent are kept.
final class ProxyBody {
    private var content = KeptContent()
    private var sent = KeptContent()
    private let inflater: Inflater?
    /// True once the coding can be undone no further.
    private var isGivenUp = false

    /// The most bytes that a body may expand to.
    static let expandedBytesMax = 64 << 20

    /// - Returns: `nil` for a body that is not JSON or has a coding that cannot be undone.
    init?(_ headers: HTTPHeaders) {
        let type = MediaType(headers.first(name: "content-type"))
        guard type.isJSON || type.name == "application/x-ndjson" else { return nil }
        let codings = headers[canonicalForm: "content-encoding"].map { $0.lowercased() }.filter { $0 != "identity" }
        switch codings.first {
        case nil: inflater = nil
        case "gzip" where codings.count == 1, "x-gzip" where codings.count == 1: inflater = Inflater(.gzip)
        case "deflate" where codings.count == 1: inflater = Inflater(.zlib)
        default: return nil
        }
    }

    func append(_ buffer: ByteBuffer) {
        buffer.withUnsafeReadableBytes { bytes in
            guard let inflater else { return content.append(bytes) }
            sent.append(bytes)
            guard !isGivenUp else { return }
            do {
                try inflater.push(bytes) { piece in
                    content.append(piece)
                    isGivenUp = content.byteCount > Self.expandedBytesMax
                    return !isGivenUp
                }
            } catch {
                isGivenUp = true
            }
            if isGivenUp { content = KeptContent() }
        }
    }

    /// Whether anything came.
    var isEmpty: Bool { content.byteCount == 0 && sent.byteCount == 0 }

    /// What to record; the hash of the bytes as they were sent for a body whose coding cannot be undone.
    var result: KeptContent.Result {
        guard isGivenUp else { return content.result }
        if case .whole(let bytes) = sent.result {
            return .oversize(length: bytes.count, hash: Hasher256.hash(bytes))
        }
        return sent.result
    }
}
#endif
