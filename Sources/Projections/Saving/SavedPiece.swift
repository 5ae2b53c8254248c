/// A part of a saved state, as it is stored: a head, and what it holds, which may be memory of the state itself. So a saving takes
/// little beside the state.
struct SavedPiece: Sendable {
    private let head: [UInt8]
    private let content: ArraySlice<UInt8>

    init(head: [UInt8] = [], _ content: ArraySlice<UInt8>) {
        (self.head, self.content) = (head, content)
    }

    init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// The piece with bytes before it.
    func behind(_ bytes: [UInt8]) -> SavedPiece { SavedPiece(head: bytes + head, content) }

    var count: Int { head.count + content.count }
    var first: UInt8? { head.first ?? content.first }

    /// The bytes, copied.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: content)
        return bytes
    }
}
