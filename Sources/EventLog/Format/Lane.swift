/// The source, kind and attributes that many events share. Stored once under a number, which no hash contains.
/// `LaneInterner` makes equal lanes of one log one object, so that identity tells them apart.
final class Lane: Sendable {
    let source: SourceName
    let kind: EventKind
    let attributes: Attributes
    /// `str source ‖ str kind`: the bytes of a leaf before the key.
    let leafHead: [UInt8]
    /// `u16 count ‖ (str name ‖ str value)…`: the bytes of a leaf after the key.
    let leafAttributes: [UInt8]
    /// The start value of `KeyHash` for this source's keys.
    let keySeed: UInt64
    /// Whether the events are acts (I1).
    let isAct: Bool

    init(source: SourceName, kind: EventKind, attributes: Attributes) {
        self.source = source
        self.kind = kind
        self.attributes = attributes
        var head = ByteWriter()
        head.write(text: source.rawValue)
        head.write(text: kind.rawValue)
        leafHead = head.bytes
        var tail = ByteWriter()
        tail.write(UInt16(clamping: attributes.pairs.count))
        for pair in attributes.pairs {
            tail.write(text: pair.name)
            tail.write(text: pair.value)
        }
        leafAttributes = tail.bytes
        keySeed = KeyHash.seed(of: source)
        isAct = source == .logtool
    }

    /// The value in the table `lanes` without its checksum.
    var bytes: [UInt8] { leafHead + leafAttributes }

    /// Reads a value of the table `lanes`; `nil` if it is malformed, also if the attributes are not in their order:
    /// another order has another leaf.
    convenience init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let sourceText = reader.text(), let kindText = reader.text(),
            let source = try? SourceName(sourceText), let kind = try? EventKind(kindText),
            let count = reader.number(UInt16.self)
        else { return nil }
        var pairs: [Attributes.Pair] = []
        for _ in 0..<count {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            pairs.append(Attributes.Pair(name: name, value: value))
        }
        guard reader.isAtEnd, let attributes = try? Attributes(pairs), attributes.pairs == pairs else { return nil }
        self.init(source: source, kind: kind, attributes: attributes)
    }
}
