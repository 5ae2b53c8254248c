#if Recorders
import EventLog
import JSON

/// A commit as GitHub's REST API returns it. Everything comes from the remote; only the ids are checked, for their
/// form.
struct GitHubCommit {
    /// An author or committer; what the answer lacks is empty.
    struct Person {
        var name = ""
        var email = ""
        /// Since 1970 UTC; the API does not return the zone.
        var seconds: Int64 = 0
    }

    let id: String
    /// In the commit's order.
    let parents: [String]
    /// The id of the commit's tree.
    let tree: String
    fileprivate let author: Person
    fileprivate let committer: Person
    fileprivate let message: String
    /// The signed text: the commit as git stores it, without the signature.
    fileprivate let signedText: String?

    /// Reads an element of the list of commits, or one commit of the git database.
    init?(_ json: JSONValue) {
        // The list wraps the commit in `commit`, the git database does not; `sha` and `parents` are outside in both.
        let commit = json["commit"] ?? json
        guard let id = json["sha"]?.string, GitRepository.isObjectID(id),
            let parents = json["parents"]?.array, let tree = commit["tree"]?["sha"]?.string,
            GitRepository.isObjectID(tree), let message = commit["message"]?.string
        else { return nil }
        self.id = id
        self.parents = parents.compactMap { $0["sha"]?.string }.filter(GitRepository.isObjectID)
        // A parent left out would give a commit with false parents.
        guard self.parents.count == parents.count else { return nil }
        self.tree = tree
        self.message = message
        author = Person(commit["author"])
        committer = Person(commit["committer"])
        signedText = commit["verification"]?["payload"]?.string
    }
}

extension GitHubCommit.Person {
    fileprivate init(_ json: JSONValue?) {
        name = json?["name"]?.string ?? ""
        email = json?["email"]?.string ?? ""
        seconds = json?["date"]?.string.flatMap { Timestamp(rfc3339: $0) }?.seconds ?? 0
    }

    /// The line of a commit's header, with a zone such as `+0100`.
    fileprivate func line(zone: String) -> String {
        "\(name) <\(email)> \(seconds) \(zone)"
    }
}

/// Reconstructs the bytes of commits, which the API returns without time zones and without the line end of the message.
///
/// A guess is right if its hash is the commit's id. The last zones that were right are tried first.
struct GitHubCommitProof {
    /// The zones of author and committer that were right last.
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

    /// The bytes that hash to the commit's id; `nil` if no guess does.
    private mutating func find(_ commit: GitHubCommit) -> [UInt8]? {
        if let bytes = Self.match(commit, lastZones) { return bytes }
        // Author and committer are in one zone nearly always.
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

    /// The bytes with these zones, if they hash to the commit's id. The API leaves out a line end behind the message,
    /// so both are tried.
    private static func match(_ commit: GitHubCommit, _ zones: (String, String)) -> [UInt8]? {
        for ending in ["\n", ""] {
            let bytes = bytes(of: commit, zones: zones, ending: ending)
            if GitObjectHash.id(type: "commit", bytes) == commit.id { return bytes }
        }
        return nil
    }

    /// A guess at the bytes of the commit object.
    private static func bytes(of commit: GitHubCommit, zones: (String, String), ending: String) -> [UInt8] {
        var text = "tree \(commit.tree)\n"
        for parent in commit.parents { text += "parent \(parent)\n" }
        text += "author \(commit.author.line(zone: zones.0))\ncommitter \(commit.committer.line(zone: zones.1))\n"
        return Array("\(text)\n\(commit.message)\(ending)".utf8)
    }

    /// All zones that are in use, from -1200 to +1400 by quarters of an hour, whole hours first, small ones first; and
    /// -0000, which some programs write for an unknown zone.
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
