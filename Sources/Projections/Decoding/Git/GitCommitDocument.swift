import EventLog
import JSON

/// A commit, as far as the projections need its event's payload (`docs/events.md`, "The commit document").
struct GitCommitDocument {
    var commit: String
    /// The author's name; e-mail addresses are not read.
    var author: String?
    /// The committer's time, to the second; `nil` if the commit states none. The author's time does not change when a
    /// commit is rebased, so it is not the time of this change.
    var committedAt: Timestamp?
    /// One for each parent, in the commit's order; a root commit has one without an id.
    var parents: [GitParent]
    var files: GitFiles
}

/// How a commit differs from one of its parents.
struct GitParent {
    /// `nil` for the empty tree that a root commit is compared with.
    var commit: String?
    var changes: [GitPathChange]
}

/// One path whose mode or content differs. `from` is `nil` for a new path, `to` for one that is gone.
struct GitPathChange {
    var path: String
    /// Whether bytes of the path that are no UTF-8 are percent-encoded in it.
    var isEncoded = false
    var from: GitEntry?
    var to: GitEntry?
}

/// The entry of a tree under a path.
struct GitEntry: Codable, Hashable {
    var mode: String
    var blob: String

    /// Whether it is a file, rather than a symbolic link (`120000`) or a submodule (`160000`).
    var isFile: Bool { mode.hasPrefix("100") }
}

/// A rewrite, read from its event: the branch was set to a commit that does not descend from its tip (`docs/events.md`,
/// "The rewrite document").
struct GitRewriteDocument {
    var from: String
    var to: String
    var changes: [GitPathChange]
    var files: GitFiles
}

/// The files of an event, by blob.
struct GitFiles {
    /// The text of each file that has one. A file without text is too large for its event, or not UTF-8.
    var texts: [String: String] = [:]
    /// The size of each in bytes, as the event states it.
    var sizes: [String: Int64] = [:]
}

/// Why a payload is no commit or rewrite document; contains none of its text.
struct GitDocumentFault: Error, Hashable {
    let reason: String
}

extension GitCommitDocument {
    /// Reads a `git.commit/1`.
    init(_ payload: UnsafeRawBufferPointer) throws(GitDocumentFault) {
        let document = try GitDocument(payload)
        commit = try document.text("commit")
        author = document.members["author"]?.members?["name"]?.string
        let time = document.members["committer"]?.members?["time"]?.number
        committedAt = time?.int64.map { Timestamp(seconds: $0) }
        guard let parents = document.members["parents"]?.elements else {
            throw GitDocumentFault(reason: "it has no parents")
        }
        self.parents = []
        for parent in parents {
            let members = parent.members
            self.parents.append(
                GitParent(commit: members?["commit"]?.string, changes: try GitDocument.changes(of: members))
            )
        }
        files = document.files
    }
}

extension GitRewriteDocument {
    /// Reads a `git.rewrite/1`.
    init(_ payload: UnsafeRawBufferPointer) throws(GitDocumentFault) {
        let document = try GitDocument(payload)
        from = try document.text("from")
        to = try document.text("to")
        changes = try GitDocument.changes(of: document.members)
        files = document.files
    }
}

/// The members that both documents share. The recorder wrote the payload, so a member in another form is a fault of the
/// whole event. Borrows the payload.
private struct GitDocument {
    let members: ObjectView

    init(_ payload: UnsafeRawBufferPointer) throws(GitDocumentFault) {
        do throws(JSONError) {
            // A text that is no object has no members.
            members = try ObjectView(payload) ?? .empty
        } catch {
            throw GitDocumentFault(reason: "it is no JSON text")
        }
    }

    func text(_ name: StaticString) throws(GitDocumentFault) -> String {
        guard let text = members[name]?.string else { throw GitDocumentFault(reason: "it has no \(name)") }
        return text
    }

    var files: GitFiles {
        var files = GitFiles()
        for file in members["files"]?.elements ?? [] {
            guard let file = file.members, let blob = file["blob"]?.string else { continue }
            files.sizes[blob] = file["size"]?.number?.int64
            files.texts[blob] = file["text"]?.string
        }
        return files
    }

    /// The changed paths, in the order of their bytes, as the recorder wrote them.
    static func changes(of members: ObjectView?) throws(GitDocumentFault) -> [GitPathChange] {
        guard let entries = members?["changes"]?.elements else { throw GitDocumentFault(reason: "it has no changes") }
        var changes: [GitPathChange] = []
        changes.reserveCapacity(entries.count)
        for entry in entries {
            let entry = entry.members
            guard let path = entry?["path"]?.string else { throw GitDocumentFault(reason: "a change has no path") }
            changes.append(
                GitPathChange(
                    path: path,
                    isEncoded: entry?["encoded"]?.bool == true,
                    from: Self.entry(entry?["from"]),
                    to: Self.entry(entry?["to"])
                )
            )
        }
        return changes
    }

    private static func entry(_ value: ValueView?) -> GitEntry? {
        guard let members = value?.members, let mode = members["mode"]?.string, let blob = members["blob"]?.string
        else { return nil }
        return GitEntry(mode: mode, blob: blob)
    }
}

/// The channel and message that a path below a branch's root names.
struct VibeChannelPath: Hashable {
    /// Files that VibeChannel keeps beside the messages, in any case of their ASCII letters.
    private static let reserved: Set<String> = ["schema.md", "agent.md", "readme.md"]

    /// The top-level folder, which is the channel's id and name.
    let channel: String
    /// The message's id: the file's name without `.md`; `nil` for any other file.
    let message: String?

    /// Reads a path; `nil` if it is in no channel: at the root, or below a folder whose name begins with a dot. A file
    /// in a subfolder belongs to the channel and is no message.
    init?(_ path: String, by reader: any MessageFileReader) {
        let bytes = path.utf8
        guard let slash = bytes.firstIndex(of: 0x2F), let first = bytes.first, first != 0x2F, first != 0x2E else {
            return nil
        }
        let name = bytes[bytes.index(after: slash)...]
        guard !name.isEmpty else { return nil }
        channel = String(path[..<slash])
        let isMessage = name.suffix(3).elementsEqual(".md".utf8) && !name.contains(0x2F) && !Self.isReserved(name)
        message = isMessage ? reader.id(ofFile: Substring(name)) : nil
    }

    /// Only short names can be those of such files.
    private static func isReserved(_ name: Substring.UTF8View) -> Bool {
        name.count <= 9 && reserved.contains(lowercased(name))
    }

    /// ASCII letters only: Unicode's case tables would tie the state to a version of Unicode (I10).
    private static func lowercased(_ name: Substring.UTF8View) -> String {
        String(decoding: name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
