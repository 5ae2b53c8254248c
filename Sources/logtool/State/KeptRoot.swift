import EventLog
import JSON
import Projections

/// A root that was kept outside the log: the hash of its first `size` events.
struct KeptRoot {
    let size: UInt64
    let root: Hash256

    init(size: UInt64, root: Hash256) {
        self.size = size
        self.root = root
    }

    /// Reads a file that `root --json` wrote; - is standard input.
    ///
    /// - Throws: `Failure` if it has no size or root.
    init(file: String) throws {
        let document: JSONValue
        do {
            document = try JSONValue.parse(try InputFile.bytes(at: file))
        } catch let error as JSONError {
            throw Failure("read root \"\(file)\": \(error)")
        }
        guard let size = document["treeSize"]?.string.flatMap({ UInt64($0) }),
            let root = document["root"]?.string.flatMap(Hash256.init(spelled:))
        else {
            throw Failure("read root \"\(file)\": it needs \"treeSize\" and \"root\", as root --json writes them")
        }
        self.init(size: size, root: root)
    }

    /// What `root --json` prints.
    var json: JSONValue {
        .object(["treeSize": .string(String(size)), "root": .string(Base64.encode(root.bytes))])
    }
}
