#if Recorders
import EventLog

/// A commit as GitHub's REST API returns it.
struct GitHubCommit {
    struct Person {
        var name = ""
        var email = ""
        var seconds: Int64 = 0
    }

    let id: String
    let parents: [String]
    let tree: String
    fileprivate let author: Person
    fileprivate let committer: Person
    fileprivate let message: String
    /// The signed text: the commit as git stores it, without the signature.
    fileprivate let signedText: String?

    /// Reads an element of the list of commits, or one commit of the git database.
    init?(_ json: JSONTree) {
        let commit = json["commit"] ?? json
        guard let id = json["sha"]?.string, GitRepository.isObjectID(id),
            let parents = json["parents"]?.elements, let tree = commit["tree"]?["sha"]?.string,
            GitRepository.isObjectID(tree), let message = commit["message"]?.string
        else { return nil }
        self.id = id
        self.parents = parents.compactMap { $0["sha"]?.string }.filter(GitRepository.isObjectID)
        guard self.parents.count == parents.count else { return nil }
        self.tree = tree
        self.message = message
        author = Person(commit["author"])
        committer = Person(commit["committer"])
        signedText = commit["verification"]?["payload"]?.string
    }
}

extension GitHubCommit.Person {
    fileprivate init(_ json: JSONTree?) {
        name = json?["name"]?.string ?? ""
        email = json?["email"]?.string ?? ""
        seconds = json?["date"]?.string.flatMap { Timestamp(rfc3339: $0) }?.seconds ?? 0
    }

    fileprivate func line(zone: String) -> String {
        "\(name) <\(email)> \(seconds) \(zone)"
    }
}

/// Reconstructs the bytes of commits, which the API returns without time zones and without the line end of the message.
///
/// A guess is right if its hash is the commit's id. The last zones that were right are tried first.
struct GitHubCommitProof {
    private var lastZones = ("+0000", "+0000")

    /// The commit as git stores it. `isProved` is false if no guess is right (bytes that are not UTF-8, rare headers);
    /// the commit is then the most likely one. A signed text counts as proved without a hash: the id covers the
    /// signature, too, which the text lacks.
    mutating func object(_ commit: GitHubCommit) -> (object: GitCommitObject, isProved: Bool) {
        if let text = commit.signedText { return (GitCommitObject(Array(text.utf8)), true) }
        if let bytes = find(commit) { return (GitCommitObject(bytes), true) }
        let ending = commit.message.hasSuffix("\n") ? "" : "\n"
        return (GitCommitObject(Self.bytes(of: commit, zones: lastZones, ending: ending)), false)
    }

    private mutating func find(_ commit: GitHubCommit) -> [UInt8]? {
        if let bytes = Self.match(commit, lastZones) { return bytes }
        for zone in Self.zones {
            guard let bytes = Self.match(commit, (zone, zone)) else { continue }
            lastZones = (zone, zone)
            return bytes
        }
        // Hashing a long message is slow, so pairs of zones are tried only for short ones.
        guard commit.message.utf8.count < 4_096 else { return nil }
        for author in Self.zones {
            for committer in Self.zones where committer != author {
                guard let bytes = Self.match(commit, (author, committer)) else { continue }
                lastZones = (author, committer)
                return bytes
            }
        }
        return nil
    }

    private static func match(_ commit: GitHubCommit, _ zones: (String, String)) -> [UInt8]? {
        for ending in ["\n", ""] {
            let bytes = bytes(of: commit, zones: zones, ending: ending)
            if GitObjectHash.id(type: "commit", bytes) == commit.id { return bytes }
        }
        return nil
    }

    private static func bytes(of commit: GitHubCommit, zones: (String, String), ending: String) -> [UInt8] {
        var text = "tree \(commit.tree)\n"
        for parent in commit.parents { text += "parent \(parent)\n" }
        text += "author \(commit.author.line(zone: zones.0))\ncommitter \(commit.committer.line(zone: zones.1))\n"
        return Array("\(text)\n\(commit.message)\(ending)".utf8)
    }

    /// All zones that are in use, whole hours first.
    private static let zones: [String] = {
        let quarters = (-48...56).sorted { ($0 % 4 == 0 ? 0 : 1, abs($0)) < ($1 % 4 == 0 ? 0 : 1, abs($1)) }
        return quarters.map { quarter in
            let minutes = abs(quarter) * 15
            let digits = String(10_000 + minutes / 60 * 100 + minutes % 60).dropFirst()
            return (quarter < 0 ? "-" : "+") + digits
        } + ["-0000"]
    }()
}
#endif
