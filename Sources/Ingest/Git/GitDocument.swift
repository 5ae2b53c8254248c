import EventLog
import JSON

/// Writes the documents of commits and rewritten branches (docs/events.md). The same repository gives the same bytes,
/// so that recording it again appends nothing (I4).
///
/// Call `addCommit` and `addParents`, or `addRewrite`, then `addFiles`, once each: the order of the calls is the order
/// of the members. A change of any byte, or of which texts are left out, would make every commit that logs hold a key
/// with another payload.
struct GitDocument {
    /// The changes from one parent; `parent` is `nil` for the empty tree.
    struct Comparison {
        let parent: String?
        let changes: [GitChange]
    }

    private var json = JSONWriter()
    /// The most bytes that the document may have with texts.
    private let limit: Int

    init(limit: Int = EnvelopeLimits.payloadBytesMax) {
        self.limit = limit
        json.begin("{")
    }

    var bytes: [UInt8] { json.bytes }

    mutating func addCommit(_ id: String, _ commit: GitCommitObject) {
        member("commit", id)
        addPerson("author", commit.author)
        addPerson("committer", commit.committer)
        json.name("subject")
        json.string(UTF8Text.percentEncodingFaults(commit.subject).bytes)
        json.name("message")
        json.string(UTF8Text.percentEncodingFaults(commit.message).bytes)
    }

    /// - Parameter missing: the parents that the commit names but the repository does not have.
    mutating func addParents(_ comparisons: [Comparison], missing: [String]) {
        json.name("parents")
        json.begin("[")
        for comparison in comparisons {
            json.begin("{")
            if let parent = comparison.parent { member("commit", parent) }
            addChanges(comparison.changes)
            json.end("}")
        }
        json.end("]")
        guard !missing.isEmpty else { return }
        json.name("missingParents")
        json.begin("[")
        missing.forEach { json.string($0) }
        json.end("]")
    }

    /// - Parameter changes: from the old tip's tree, or from the empty tree if `fromIsMissing`; sorted by path.
    mutating func addRewrite(from: String, to: String, fromIsMissing: Bool, changes: [GitChange]) {
        member("from", from)
        member("to", to)
        if fromIsMissing {
            json.name("fromMissing")
            json.literal(true)
        }
        addChanges(changes)
    }

    /// Adds the files, in order, and closes the document. `next` gives the size of each blob in turn, and its bytes if
    /// there are at most `sizeMax`. It is called for every file except submodules, whether or not the text fits.
    ///
    /// A file's text is included as long as the document, counting every size as 20 bytes, stays within the limit. A
    /// text that does not fit is left out, and smaller ones after it are still taken.
    mutating func addFiles(
        _ files: [GitChange],
        next: (_ object: String, _ sizeMax: Int) throws -> (size: Int, bytes: [UInt8]?)
    ) throws {
        var room = textRoom(beside: files)
        json.name("files")
        json.begin("[")
        for file in files {
            json.begin("{")
            addPath(file.path)
            if let entry = file.to {
                member("blob", entry.object)
                if !entry.isSubmodule { try addContent(room: &room) { try next(entry.object, $0) } }
            }
            json.end("}")
        }
        json.end("]")
        json.end("}")
    }
}

extension GitDocument {
    /// The room that a document has left for the texts of files.
    struct TextRoom {
        /// In bytes; not above 0 if the document is full. A text is never shorter in JSON than as it is, so a larger blob
        /// cannot fit and need not be read.
        fileprivate(set) var bytes: Int

        /// Takes the room of a file's text, in the order of the files; false for bytes that are no text or do not fit.
        mutating func take(_ content: [UInt8]) -> Bool {
            content.withUnsafeBufferPointer { text in
                guard UTF8Sequence.firstFault(in: text) == text.count, !UTF8Text.containsNUL(text) else { return false }
                // 8 bytes for `,"text":`.
                let length = JSONWriter.length(ofString: text) + 8
                guard length <= bytes else { return false }
                bytes -= length
                return true
            }
        }
    }

    /// The room for the texts of files that are to be added next.
    func textRoom(beside files: [GitChange]) -> TextRoom {
        // Room is reserved for every entry before any text, so that a text never pushes out a later file's id and size.
        // The 16 bytes are `,"files":[` and the closing brackets.
        TextRoom(bytes: files.reduce(limit - json.bytes.count - 16) { $0 - Self.lengthWithoutText(of: $1) })
    }

    private mutating func addContent(
        room: inout TextRoom,
        next: (_ sizeMax: Int) throws -> (size: Int, bytes: [UInt8]?)
    ) throws {
        let (size, bytes) = try next(max(0, room.bytes))
        json.name("size")
        json.number(size)
        guard let bytes, room.take(bytes) else { return }
        json.name("text")
        json.string(bytes)
    }

    /// An upper bound of the bytes of a file's entry without its text; it does not depend on the file's size. The 72
    /// bytes cover the members' names, `"encoded":true`, 20 digits of size and the punctuation.
    private static func lengthWithoutText(of file: GitChange) -> Int {
        let path = UTF8Text.percentEncodingPath(file.path).bytes
        return path.withUnsafeBufferPointer { JSONWriter.length(ofString: $0) } + (file.to?.object.utf8.count ?? 0) + 72
    }

    private mutating func addChanges(_ changes: [GitChange]) {
        json.name("changes")
        json.begin("[")
        for change in changes {
            json.begin("{")
            addPath(change.path)
            if let entry = change.from { addEntry("from", entry) }
            if let entry = change.to { addEntry("to", entry) }
            json.end("}")
        }
        json.end("]")
    }

    private mutating func addEntry(_ name: StaticString, _ entry: GitChange.Entry) {
        json.name(name)
        json.begin("{")
        member("mode", entry.mode)
        member("blob", entry.object)
        json.end("}")
    }

    private mutating func addPath(_ path: [UInt8]) {
        let (bytes, isEncoded) = UTF8Text.percentEncodingPath(path)
        json.name("path")
        json.string(bytes)
        if isEncoded {
            json.name("encoded")
            json.literal(true)
        }
    }

    private mutating func addPerson(_ name: StaticString, _ person: GitCommitObject.Person) {
        json.name(name)
        json.begin("{")
        json.name("name")
        json.string(UTF8Text.percentEncodingFaults(person.name).bytes)
        json.name("email")
        json.string(UTF8Text.percentEncodingFaults(person.email).bytes)
        if let time = person.time {
            json.name("time")
            json.number(time)
        }
        json.end("}")
    }

    private mutating func member(_ name: StaticString, _ value: String) {
        json.name(name)
        json.string(value)
    }
}
