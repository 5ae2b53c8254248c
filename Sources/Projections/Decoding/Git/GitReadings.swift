/// The contents read so far, by their places in `GitHistory.blobs`: the message that each is, or why it is none.
///
/// Messages are packed in the texts of the source's messages, so the fold and the decoder share one copy of each
/// (`FoldContext.texts`).
struct GitReadings: Codable, Sendable {
    /// By place; empty where the content is not read or no message.
    private var stored = Pages<PooledText>()
    /// The packed messages that are too long for a pool.
    private var large: [UInt32: [UInt8]] = [:]
    private var faults: [UInt32: String] = [:]
    /// The message read last, which most events need at once. Not saved.
    private var last: (blob: UInt32, saying: MessageSaying)?

    private enum CodingKeys: CodingKey { case stored, large, faults }

    init() {}

    /// Whether a content was read.
    func contains(_ blob: UInt32) -> Bool { isMessage(blob) || faults[blob] != nil }

    /// Whether a content was read and is a message.
    func isMessage(_ blob: UInt32) -> Bool { stored(blob) != nil || !large.isEmpty && large[blob] != nil }

    /// Why a content is no message; `nil` if it is one, or was not read.
    func fault(_ blob: UInt32) -> String? { faults[blob] }

    /// The place of a message in the pool.
    func stored(_ blob: UInt32) -> PooledText? {
        guard blob < stored.count, stored[Int(blob)] != .empty else { return nil }
        return stored[Int(blob)]
    }

    /// The message that a content is.
    func saying(_ blob: UInt32, _ texts: TextPool) -> MessageSaying? {
        if let last, last.blob == blob { return last.saying }
        return withPacked(blob, texts) { $0.flatMap { MessageSaying(packed: $0) } }
    }

    /// Whether two contents are messages with the same text.
    func haveSameText(_ left: UInt32, _ right: UInt32, _ texts: TextPool) -> Bool {
        withPacked(left, texts) { left in
            withPacked(right, texts) { right in
                guard let left = left.flatMap({ MessageSaying.text(packed: $0) }),
                    let right = right.flatMap({ MessageSaying.text(packed: $0) })
                else { return false }
                // Other bytes can be the same text only beyond ASCII.
                return left.elementsEqual(right)
                    || String(decoding: left, as: UTF8.self) == String(decoding: right, as: UTF8.self)
            }
        }
    }

    /// Lends a packed message to a closure; `nil` if the content is none.
    private func withPacked<Result>(
        _ blob: UInt32,
        _ texts: TextPool,
        _ body: (UnsafeRawBufferPointer?) -> Result
    ) -> Result {
        if let text = stored(blob) { return texts.holds(text) ? texts.withPacked(text, body) : body(nil) }
        guard !large.isEmpty, let bytes = large[blob] else { return body(nil) }
        return bytes.withUnsafeBytes { body($0) }
    }

    /// Notes a message.
    mutating func set(_ blob: UInt32, _ saying: MessageSaying, _ texts: inout TextPool) throws {
        last = (blob, saying)
        var bytes: [UInt8] = []
        try saying.pack(into: &bytes)
        guard let text = texts.add(packed: bytes) else {
            large[blob] = bytes
            return
        }
        while stored.count <= blob { stored.append(.empty) }
        stored[Int(blob)] = text
    }

    /// Notes that a content is no message.
    mutating func set(_ blob: UInt32, fault: String) { faults[blob] = fault }
}
