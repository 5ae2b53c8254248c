/// The message files and graves of one tree, and all paths that one ever had. A path's place counts from 0 in order of
/// arrival.
struct GitTree: Sendable {
    /// A path in eight bytes.
    fileprivate struct Path: PlacedKey {
        /// A place in `channels`.
        let channel: UInt32
        /// Even: half the index of the id in `Names`, odd: half its place in `otherIDs`.
        let id: UInt32

        func hash(_ key: TableKey) -> UInt64 { key.hash(UInt64(channel), UInt64(id)) }
    }

    private var paths = PlacedKeys<Path>()
    private var channels = PlacedKeys<EntityID>()
    /// The ids that are numbers.
    private var otherIDs = PlacedKeys<EntityID>()
    /// The version under each path, counted from 1; 0 for none.
    private var versions = Pages<UInt32>()

    init() {}

    /// The place of a path, added without a version if it is new.
    mutating func addedPath(of key: MessageKey) -> UInt32 {
        let id = Self.code(key.id) ?? otherIDs.place(of: key.id) << 1 | 1
        let path = paths.place(of: Path(channel: channels.place(of: key.channel), id: id))
        if path == versions.count { versions.append(0) }
        return path
    }

    func key(ofPath place: UInt32) -> MessageKey {
        let path = paths[place]
        let id = path.id & 1 == 0 ? EntityID(nameIndex: Int(path.id >> 1)) : otherIDs[path.id >> 1]
        return MessageKey(channel: channels[path.channel], id: id)
    }

    /// The version that the tree has under a key; `nil` for none.
    func version(at key: MessageKey) -> UInt32? {
        guard let channel = channels.find(key.channel),
            let id = Self.code(key.id) ?? otherIDs.find(key.id).map({ $0 << 1 | 1 })
        else { return nil }
        return paths.find(Path(channel: channel, id: id)).flatMap { version(at: $0) }
    }

    func version(at path: UInt32) -> UInt32? {
        let version = versions[Int(path)]
        return version == 0 ? nil : version - 1
    }

    /// Sets the version under a path; `UInt32.max` removes it.
    mutating func set(_ version: UInt32, at path: UInt32) {
        versions[Int(path)] = version &+ 1
    }

    /// The even number of an id that is a text of one of the first 2^31 indices; `nil` for any other.
    private static func code(_ id: EntityID) -> UInt32? {
        id.nameIndex.flatMap { $0 < 1 << 31 ? UInt32($0) << 1 : nil }
    }
}

extension EntityID: PlacedKey {
    func hash(_ key: TableKey) -> UInt64 { key.hash(rawValue, 0) }
}

/// Saved without the tables, which loading builds.
extension GitTree: Codable {
    private enum CodingKeys: CodingKey { case paths, channels, otherIDs, versions }

    init(from decoder: any Decoder) throws {
        self.init()
        let members = try decoder.container(keyedBy: CodingKeys.self)
        paths = PlacedKeys(try members.decode(Pages<Path>.self, forKey: .paths))
        channels = PlacedKeys(try members.decode(Pages<EntityID>.self, forKey: .channels))
        otherIDs = PlacedKeys(try members.decode(Pages<EntityID>.self, forKey: .otherIDs))
        versions = try members.decode(Pages<UInt32>.self, forKey: .versions)
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(paths.keys, forKey: .paths)
        try members.encode(channels.keys, forKey: .channels)
        try members.encode(otherIDs.keys, forKey: .otherIDs)
        try members.encode(versions, forKey: .versions)
    }
}
