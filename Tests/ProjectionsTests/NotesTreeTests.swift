import Testing

@testable import Projections

@Suite struct NotesTreeTests {
    private func note(_ title: String, _ metadata: JSONObject, isDeleted: Bool = false) -> SettledRow {
        var record: JSONObject = ["title": .string(title), "metadata": .object(metadata)]
        if isDeleted { record["deleted_at"] = .string("2026-02-01T10:00:00+00:00") }
        return SettledRow(record: record, unknownColumns: [], staleColumns: [])
    }

    @Test func notesStandInTheFoldersOfTheirMetadata() {
        let tree = NotesTree(rows: [
            ("1", note("soup", ["folder": .string("Kitchen/Winter")])), ("2", note("Root", ["pinned": .bool(true)])),
            ("3", note("Bread", ["folder": .string("Kitchen")])),
            ("4", note("__folder__", ["folder": .string("empty"), "folder_marker": .bool(true)])),
        ])
        #expect(tree.root.notes.map(\.title) == ["Root"])
        #expect(tree.root.notes.map(\.isPinned) == [true])
        #expect(tree.root.folders.map(\.name) == ["empty", "Kitchen"])
        #expect(tree.root.folders[0].notes.isEmpty)
        #expect(tree.root.folders[1].folders.first?.notes.map(\.id) == ["1"])
    }

    @Test func whatIsDeletedArchivedOrTheScratchpadIsLeftOut() {
        let tree = NotesTree(rows: [
            ("1", note("A", [:], isDeleted: true)), ("2", note("B", ["folder": .string("Archive/2025")])),
            ("3", note("C", ["archived": .bool(true)])), ("4", note("✏️ Scratchpad", [:])),
        ])
        #expect(tree.root == NotesTree.Folder(name: ""))
    }

    @Test func aPathOfAnyLengthIsATree() {
        let path = String(repeating: "a/", count: 100_000)
        let tree = NotesTree(rows: [("1", note("A", ["folder": .string(path)]))])
        #expect(tree.root.folders.count == 1)
    }
}
