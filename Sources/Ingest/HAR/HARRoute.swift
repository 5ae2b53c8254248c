/// The requests for the state that recorders and clients make. Answers to other requests are not kept.
struct HARRoute: Equatable {
    let kind: HARKind
    /// True if no other server has such a path, so that the path alone shows the kind.
    let isTelling: Bool

    /// Judges a request; `nil` if no recorder keeps its answer.
    init?(method: String, path: Substring) {
        let parts = path.split(separator: "/")
        switch method {
        case "GET":
            if Self.isTable(parts) {
                self.init(.realtime, isTelling: true)
            } else if let isTelling = Self.isGateway(parts) {
                self.init(.gateway, isTelling: isTelling)
            } else {
                return nil
            }
        case "POST" where Self.isRecords(parts): self.init(.cloudkit, isTelling: true)
        default: return nil
        }
    }

    private init(_ kind: HARKind, isTelling: Bool) {
        (self.kind, self.isTelling) = (kind, isTelling)
    }

    /// PostgREST behind Supabase: `…/rest/v1/TABLE`.
    private static func isTable(_ parts: [Substring]) -> Bool {
        guard parts.count >= 3, let name = parts.last else { return false }
        return parts.suffix(3).dropLast().elementsEqual(["rest", "v1"])
            && name.utf8.allSatisfy { SecretText.isNameByte($0) }
    }

    /// CloudKit's web services: `/database/1/CONTAINER/ENVIRONMENT/DATABASE/records/query`.
    private static func isRecords(_ parts: [Substring]) -> Bool {
        parts.count == 7 && parts[0] == "database" && parts[5] == "records" && ["query", "lookup"].contains(parts[6])
    }

    /// For a route of a gateway's REST interface, below any prefix: true if the route alone shows the kind. `nil` for
    /// other paths.
    private static func isGateway(_ parts: [Substring]) -> Bool? {
        guard let root = parts.firstIndex(where: { ["users", "guilds", "channels"].contains($0) }),
            parts.count > root + 1
        else { return nil }
        let (place, tail) = (parts[root + 1], Array(parts[(root + 2)...]))
        switch parts[root] {
        case "users":
            let isOwn =
                place == "@me" && ["", "guilds", "channels", "read-states"].contains(tail.joined(separator: "/"))
            return isOwn ? true : nil
        case "guilds":
            let tails = ["", "channels", "roles", "members", "bans", "messages/search"]
            return isID(place) && tails.contains(tail.joined(separator: "/")) ? true : nil
        default: return isID(place) && isOfChannel(tail) ? false : nil
        }
    }

    /// Routes of one channel: itself, its messages, one message, the users behind one reaction, voice states.
    private static func isOfChannel(_ tail: [Substring]) -> Bool {
        if tail.isEmpty || tail == ["messages"] || tail == ["voice", "states"] { return true }
        guard tail.count > 1, tail[0] == "messages", isID(tail[1]) else { return false }
        return tail.count == 2 || (tail.count == 4 && tail[2] == "reactions")
    }

    /// True for digits alone: a snowflake of Discord or Retrocast.
    private static func isID(_ part: Substring) -> Bool {
        part.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
