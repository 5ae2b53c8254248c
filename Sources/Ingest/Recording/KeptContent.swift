import EventLog

/// The content of a message or body as it comes in: whole up to 16 MiB, then only its length and hash (I3).
struct KeptContent {
    /// What of a content is kept.
    enum Result: Equatable {
        case whole([UInt8])
        case oversize(length: Int, hash: Hash256)
    }

    private let bytesMax: Int
    /// Empty once `hasher` is set.
    private var bytes: [UInt8] = []
    private var length = 0
    /// Set once the content is too large to keep.
    private var hasher: Hasher256?

    /// - Parameter bytesMax: the largest content that is kept whole.
    init(bytesMax: Int = EnvelopeLimits.payloadBytesMax) {
        self.bytesMax = bytesMax
    }

    /// The length so far, in bytes.
    var byteCount: Int { length }

    mutating func append(_ piece: UnsafeRawBufferPointer) {
        length += piece.count
        if hasher == nil, length > bytesMax {
            var begun = Hasher256()
            begun.update(bytes)
            hasher = begun
            bytes = []
        }
        if hasher == nil { bytes.append(contentsOf: piece) } else { hasher?.update(piece) }
    }

    var result: Result {
        guard let hasher else { return .whole(bytes) }
        return .oversize(length: length, hash: hasher.finalize())
    }
}
