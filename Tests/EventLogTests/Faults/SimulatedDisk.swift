import Foundation
import TestSupport

/// What of a run's writes is on the disk for sure, and what only may be.
///
/// As strict as POSIX allows: a write is sure once its file is synced (or was opened with O_DSYNC), a directory entry once
/// its directory is. Entries that are not sure come to the disk in order, as with a journal; of bytes that are not sure any
/// may have come, sector by sector.
struct SimulatedDisk {
    private struct Write {
        var offset: Int
        /// `nil`: the file was cut, or made longer, to `offset`.
        var bytes: [UInt8]?
        var isSure: Bool
    }

    private struct File {
        var sure: [UInt8] = []
        var writes: [Write] = []
    }

    private struct Entry {
        var step: WriteTrace.Step
        var file: Int?
        /// The directory that has to be synced.
        var directory: String
        var isSure = false
    }

    /// How much of what is not sure came to the disk.
    enum Luck {
        case nothing, everything
        case some(seed: UInt64)
    }

    private static let sectorBytes = 512
    private let root: String
    private var files: [File] = []
    private var fileOfInode: [UInt64: Int] = [:]
    private var directoryOfInode: [UInt64: String] = [:]
    private var entries: [Entry] = []
    /// What the run has said so far.
    private(set) var said = ""

    /// - Parameter root: the directory that all paths begin with, empty at first.
    init(root: String) {
        self.root = root
    }

    mutating func apply(_ step: WriteTrace.Step) {
        switch step {
        case .created(let inode, let path):
            fileOfInode[inode] = files.count
            files.append(File())
            add(step, path, file: files.count - 1)
        case .madeDirectory(let inode, let path):
            directoryOfInode[inode] = path
            add(step, path)
        case .renamed(let path, let target):
            for (inode, directory) in directoryOfInode where directory == path { directoryOfInode[inode] = target }
            add(step, path)
        case .removed(let path): add(step, path)
        case .wrote(let inode, let offset, let bytes, let isSynced):
            note(Write(offset: offset, bytes: bytes, isSure: isSynced), inode)
        case .truncated(let inode, let size): note(Write(offset: size, bytes: nil, isSure: false), inode)
        case .synced(let inode): sync(inode)
        case .said(let text): said += text
        }
    }

    private mutating func add(_ step: WriteTrace.Step, _ path: String, file: Int? = nil) {
        entries.append(Entry(step: step, file: file, directory: Self.parent(of: path)))
    }

    private mutating func note(_ write: Write, _ inode: UInt64) {
        guard let file = fileOfInode[inode] else { return }
        files[file].writes.append(write)
    }

    private mutating func sync(_ inode: UInt64) {
        if let file = fileOfInode[inode] {
            for write in files[file].writes { Self.apply(write, to: &files[file].sure) }
            files[file].writes = []
        } else {
            // The only directory that was there before the run is the root.
            let directory = directoryOfInode[inode] ?? root
            for index in entries.indices where entries[index].directory == directory { entries[index].isSure = true }
        }
    }

    private static func apply(_ write: Write, to bytes: inout [UInt8]) {
        guard let content = write.bytes else {
            if bytes.count > write.offset { bytes.removeSubrange(write.offset...) }
            bytes += [UInt8](repeating: 0, count: write.offset - bytes.count)
            return
        }
        let end = write.offset + content.count
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.replaceSubrange(write.offset..<end, with: content)
    }

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}

// MARK: - After the power came back

extension SimulatedDisk {
    /// Writes what is there after a power loss to a directory that stands for the root.
    func restore(to target: String, _ luck: Luck) throws {
        var random = SeededGenerator(seed: 0)
        if case .some(let seed) = luck { random = SeededGenerator(seed: seed) }
        var tree: [String: Int?] = [root: nil]
        let unsure = entries.count { !$0.isSure }
        var chances =
            switch luck {
            case .nothing: 0
            case .everything: unsure
            case .some: Int.random(in: 0...unsure, using: &random)
            }
        for entry in entries {
            if !entry.isSure {
                if chances == 0 { continue }
                chances -= 1
            }
            Self.apply(entry, to: &tree)
        }
        for (path, file) in tree.sorted(by: { $0.key < $1.key }) where path.hasPrefix(root) {
            let place = target + path.dropFirst(root.count)
            if let file {
                try Data(content(of: files[file], luck, &random)).write(to: URL(filePath: place))
            } else {
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            }
        }
    }

    private static func apply(_ entry: Entry, to tree: inout [String: Int?]) {
        guard tree[entry.directory] != nil else { return }
        switch entry.step {
        case .created(_, let path): tree[path] = .some(entry.file)
        case .madeDirectory(_, let path): tree[path] = .some(nil)
        case .renamed(let path, let target):
            guard tree[path] != nil else { return }
            remove(target, from: &tree)
            for (name, file) in tree where name == path || name.hasPrefix(path + "/") {
                tree[name] = nil
                tree[target + name.dropFirst(path.count)] = .some(file)
            }
        case .removed(let path): remove(path, from: &tree)
        default: break
        }
    }

    private static func remove(_ path: String, from tree: inout [String: Int?]) {
        for name in tree.keys where name == path || name.hasPrefix(path + "/") { tree[name] = nil }
    }

    private func content(of file: File, _ luck: Luck, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = file.sure
        for write in file.writes {
            if write.isSure {
                Self.apply(write, to: &bytes)
                continue
            }
            switch luck {
            case .nothing: break
            case .everything: Self.apply(write, to: &bytes)
            case .some: Self.applySome(of: write, to: &bytes, &random)
            }
        }
        return bytes
    }

    /// The whole write, nothing of it, or some of its sectors.
    private static func applySome(of write: Write, to bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let dice = Int.random(in: 0..<4, using: &random)
        guard dice > 0, dice < 3, let content = write.bytes else {
            if dice == 3 { apply(write, to: &bytes) }
            return
        }
        for start in stride(from: 0, to: content.count, by: sectorBytes) where Bool.random(using: &random) {
            let sector = Array(content[start..<min(start + sectorBytes, content.count)])
            apply(Write(offset: write.offset + start, bytes: sector, isSure: false), to: &bytes)
        }
    }
}
