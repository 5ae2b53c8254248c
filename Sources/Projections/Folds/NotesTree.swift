/// The folder tree of live notes, as the remote shows it. Made from rows on demand; no part of the state.
///
/// `metadata.folder`, split at `/`, is a note's folder. A marker note `__folder__` is not shown but makes its folder
/// exist. The tree leaves out the scratchpad and archived notes (`metadata.archived`, or in the folder `Archive` or
/// below it).
struct NotesTree: Hashable, Sendable {
    /// A folder's own notes and folders.
    struct Folder: Hashable, Sendable {
        var name: String
        var folders: [Folder] = []
        var notes: [Note] = []
    }

    /// A note in its folder.
    struct Note: Hashable, Sendable {
        var id: String
        var title: String
        var isPinned: Bool
    }

    /// The top level: notes without a folder, and the top folders.
    private(set) var root = Folder(name: "")

    private static let scratchpadTitle = "✏️ Scratchpad"
    /// Limits the depth, because folders are walked recursively. The rest of a longer path is one name.
    private static let depthMax = 200

    /// Makes the tree of note rows by id. Rows that are soft-deleted are left out.
    init(rows: [(id: String, row: SettledRow)]) {
        for (id, row) in rows where !row.isSoftDeleted {
            let title = row.record["title"]?.string ?? ""
            let metadata = row.record["metadata"]
            // Empty parts are left out: `a//b` and `/a/b/` are the folder `a/b`.
            let path = (metadata?["folder"]?.string ?? "").split(separator: "/", maxSplits: Self.depthMax).map(
                String.init
            )
            let isArchived = path.first == "Archive" || metadata?["archived"]?.bool == true
            if isArchived || title == Self.scratchpadTitle { continue }
            let isMarker = title == "__folder__" && metadata?["folder_marker"]?.bool == true
            let note = Note(id: id, title: title, isPinned: metadata?["pinned"]?.bool ?? false)
            root.add(isMarker ? nil : note, path: path[...])
        }
        root.sort()
    }
}

extension Rows {
    /// The tree of the rows of the table `notes`, added in the order of their ids. Cost: O(rows of all tables).
    func notesTree(names: Names) -> NotesTree {
        guard let table = names.find("notes") else { return NotesTree(rows: []) }
        let notes = keys { key, _ in key.first == table }.compactMap { key in
            self[key]?.register.settled.map { (id: names.text(key.second), row: $0) }
        }
        return NotesTree(rows: notes.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) })
    }
}

extension NotesTree.Folder {
    /// Makes the folders of a path and puts the note, if any, into the last one.
    fileprivate mutating func add(_ note: NotesTree.Note?, path: ArraySlice<String>) {
        guard let first = path.first else {
            if let note { notes.append(note) }
            return
        }
        if let index = folders.firstIndex(where: { $0.name == first }) {
            folders[index].add(note, path: path.dropFirst())
        } else {
            var folder = NotesTree.Folder(name: first)
            folder.add(note, path: path.dropFirst())
            folders.append(folder)
        }
    }

    /// Sorts folders and notes by their names' or titles' lower-case forms (Unicode's mapping, independent of the
    /// locale); equal ones by name and by id.
    fileprivate mutating func sort() {
        for index in folders.indices { folders[index].sort() }
        folders.sort { Self.precedes(($0.name, $0.name), ($1.name, $1.name)) }
        notes.sort { Self.precedes(($0.title, $0.id), ($1.title, $1.id)) }
    }

    private static func precedes(_ left: (String, String), _ right: (String, String)) -> Bool {
        let names = (left.0.lowercased(), right.0.lowercased())
        if names.0.utf8.elementsEqual(names.1.utf8) { return left.1.utf8.lexicographicallyPrecedes(right.1.utf8) }
        return names.0.utf8.lexicographicallyPrecedes(names.1.utf8)
    }
}
