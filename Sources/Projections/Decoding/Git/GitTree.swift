/// The message files of one tree, and all paths that a file ever had. A path's place counts from 0 in order of arrival.
struct GitTree: Sendable {
    /// By place.
    private var keys = Pages<MessageKey>()
    /// The version of each path's file, counted from 1; 0 for no file.
    private var versions = Pages<UInt32>()
    private var table = PlaceTable()

    init() {}

    /// The place of a path, added without a file if it is new.
    mutating func addedPath(of key: MessageKey) -> UInt32 {
        if let path = path(of: key) { return path }
        table.add(hash(key), place: keys.count)
        keys.append(key)
        versions.append(0)
        return UInt32(truncatingIfNeeded: keys.count - 1)
    }

    func key(ofPath path: UInt32) -> MessageKey { keys[Int(path)] }

    /// The place of the version that the tree has under a key; `nil` for no file.
    func version(at key: MessageKey) -> UInt32? { path(of: key).flatMap { version(at: $0) } }

    func version(at path: UInt32) -> UInt32? {
        let version = versions[Int(path)]
        return version == 0 ? nil : version - 1
    }

    /// Sets the version under a path; `UInt32.max` removes the file.
    mutating func set(_ version: UInt32, at path: UInt32) {
        versions[Int(path)] = version &+ 1
    }

    private func path(of key: MessageKey) -> UInt32? {
        table.find(hash(key)) { keys[$0] == key }.map { UInt32(truncatingIfNeeded: $0) }
    }

    private func hash(_ key: MessageKey) -> UInt64 { table.hash(key.channel.rawValue, key.id.rawValue) }
}

/// Saved without the table, which loading builds.
extension GitTree: Codable {
    private enum CodingKeys: CodingKey { case keys, versions }

    init(from decoder: any Decoder) throws {
        self.init()
        let members = try decoder.container(keyedBy: CodingKeys.self)
        keys = try members.decode(Pages<MessageKey>.self, forKey: .keys)
        versions = try members.decode(Pages<UInt32>.self, forKey: .versions)
        table = PlaceTable(hashes: (0..<keys.count).map { hash(keys[$0]) })
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(keys, forKey: .keys)
        try members.encode(versions, forKey: .versions)
    }
}
