/// One value of the table `nodes`: for node k, the root of the leaves 256k+1 … 256k+256, and the clock at the last of
/// them.
///
/// ```
/// 32 root ‖ i64 clock ‖ checksum
/// ```
struct TreeNode: Equatable {
    /// The number of leaves below a node: its level in the tree is 8.
    static let leafCount: UInt64 = 256
    static let level = 8

    let root: Hash256
    /// The greatest `recordedAt` of the remote changes up to the node's last leaf, in microseconds; `Clock.none` if
    /// there is none.
    let clock: Int64

    init(root: Hash256, clock: Int64) {
        self.root = root
        self.clock = clock
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(root)
        writer.write(clock)
        return writer.bytes
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let root = reader.hash(), let clock = reader.number(Int64.self), reader.isAtEnd else { return nil }
        self.init(root: root, clock: clock)
    }
}

/// The log's clock as it is stored: the greatest `recordedAt` of its remote changes, in microseconds since 1970.
enum Clock {
    /// No remote change yet.
    static let none = Int64.min
}
