import Projections

/// Prints a state for people: channels with their threads as trees, then items, sessions, rows and issues. Scripts get
/// JSON; the layout may change.
///
/// Sections without rows print nothing, not even a heading. The footer names sequence and digest, so that two listings
/// can be told apart.
struct StatePrinter {
    let output: StandardOutput
    /// The state document. Its messages are not read, so it may lack them.
    let document: JSONValue
    /// The channels with their messages.
    let channels: [StateChannel]
    let tellsOfChannels: Bool
    let view: ViewOptions

    var style: Style { output.style }

    /// Prints everything that the document has.
    func print() throws {
        let printer = ChannelsPrinter(
            output: output,
            view: view,
            channels: channels,
            tellsOfChannels: tellsOfChannels
        )
        let hasMessages = try printer.print()
        try printItems()
        try printSessions()
        try printPrompts()
        try printRows()
        try printGuilds()
        try printIssues()
        try printFooter(hasRemoteTimes: hasMessages || !rows("sessions").isEmpty)
    }

    /// Items by list: a box, the text and the status. The order is the document's: by source, list and position.
    private func printItems() throws {
        for list in rows("items").grouped(by: ["source", "list"]) {
            try heading(list[0].text("list"), "\(counted(list.count, "item")) in \(list[0].text("source"))")
            for item in list {
                let mark = item["done"]?.bool == true ? "[x]" : "[ ]"
                let status = item["status"]?.string.map { "  (\($0))" } ?? ""
                let id = view.ids ? "\(DisplayText.escaped(item.text("id")))  " : ""
                // Indentation and box take 6 columns.
                let used = 6 + DisplayText.width(of: id) + status.count
                let lines = view.lines(of: item.text("text"), style: style, used: used)
                let end = style.text(DisplayText.escaped(status), .quiet)
                try output.line("  \(mark) \(style.text(id, .quiet))\(lines[0])\(end)")
                for line in lines.dropFirst() { try output.line("      " + line) }
            }
        }
    }

    /// Sessions by source, with the source's aggregate. The shortest form of what the sessions' app shows.
    private func printSessions() throws {
        for sessions in rows("sessions").grouped(by: ["source"]) {
            let source = sessions[0].text("source")
            let aggregate = rows("sessionAggregates").first { $0.text("source") == source }?.text("status")
            try heading("sessions", "\(source)\(aggregate.map { ", all together \($0)" } ?? "")")
            for session in sessions {
                var notes = [session.text("id")]
                if session.text("state") == "expired" { notes.append("expired") }
                if session["stale"]?.bool == true { notes.append("stale") }
                if let time = session["timestamp"]?.string { notes.append(TimeText.minute(time)) }
                let status = DisplayText.padded(DisplayText.escaped(session.text("status")), to: 11)
                let project = style.text(DisplayText.escaped(session.text("project")), .author)
                try output.line("  \(status)  \(project)  \(quiet(notes.joined(separator: ", ")))")
            }
        }
    }

    /// Prompts by source: state, text and answer. The answer follows its text behind an arrow, so both are cut
    /// together.
    private func printPrompts() throws {
        for prompts in rows("prompts").grouped(by: ["source"]) {
            try heading("prompts", prompts[0].text("source"))
            for prompt in prompts {
                let state = DisplayText.padded(DisplayText.escaped(prompt.text("state")), to: 10)
                let answer = prompt["answer"]?.string.map { " → \($0)" } ?? ""
                let id = view.ids ? "\(DisplayText.escaped(prompt.text("id")))  " : ""
                // Indentation and state take 14 columns.
                let used = 14 + DisplayText.width(of: id)
                let lines = view.lines(of: prompt.text("text") + answer, style: style, used: used)
                try output.line("  \(state)  \(style.text(id, .quiet))\(lines[0])")
                for line in lines.dropFirst() { try output.line("              " + line) }
            }
        }
    }

    /// Rows by table, each as its record in JSON. `×` marks a softly deleted row. A record is cut to the terminal's
    /// width, in a file to 100 columns; `--full` shows all of it.
    private func printRows() throws {
        for table in rows("rows").grouped(by: ["source", "table"]) {
            try heading(table[0].text("table"), "\(counted(table.count, "row")) in \(table[0].text("source"))")
            for row in table {
                let mark = row.text("state") == "soft_deleted" ? "× " : ""
                let line = "\(mark)\(row.text("id"))  \(row["record"]?.text ?? "")"
                let escaped = DisplayText.escaped(line)
                let shown = view.full ? escaped : DisplayText.cut(escaped, to: max((style.width ?? 100) - 2, 20))
                try output.line("  " + shown)
            }
        }
    }

    /// Guilds with counts of their members and roles, then one line that counts the sections without a listing of their
    /// own.
    private func printGuilds() throws {
        let guilds = rows("guilds")
        if !guilds.isEmpty { try heading("guilds", counted(guilds.count, "guild")) }
        for guild in guilds {
            // A guild's rows are found by a scan each: guilds are few.
            let isSame = { (row: JSONValue) in
                row["source"] == guild["source"] && row["guild"] == guild["id"]
            }
            let members = rows("members").filter(isSame).count
            let roles = rows("roles").filter(isSame).count
            let joined = guild["joined"]?.bool == false ? ", left" : ""
            let name = guild["name"]?.string ?? guild.text("id")
            let notes = "\(counted(members, "member")), \(counted(roles, "role")), \(guild.text("source"))\(joined)"
            let id = view.ids ? "\(guild.text("id"))  " : ""
            try output.line("  \(quiet(id))\(style.text(DisplayText.escaped(name), .author))  \(quiet(notes))")
        }
        // Sections that nobody reads row by row. They are in the document.
        let others = ["bans", "presences", "typing", "voiceStates", "readStates"]
            .map { (name: $0, count: rows($0).count) }.filter { $0.count > 0 }
        guard !others.isEmpty else { return }
        try output.line()
        try output.line(quiet("also " + others.map { "\($0.name) \($0.count)" }.joined(separator: ", ")))
    }

    /// What could not be decoded (I11). Equal issues are one line with a count.
    private func printIssues() throws {
        let issues = rows("issues")
        guard !issues.isEmpty else { return }
        // `&+`, because an imported state may contain any numbers.
        let total = issues.reduce(Int64(0)) { $0 &+ ($1["count"]?.number?.int64 ?? 1) }
        try heading("issues", counted(Int(clamping: total), "event") + " that could not be made sense of")
        for issue in issues {
            let place = "\(DisplayText.padded(issue.text("sequence"), to: 6))  \(issue.text("source"))"
            let count = issue["count"]?.number?.int64 ?? 1
            let more = count > 1 ? quiet(" (the last of \(count) such events)") : ""
            try output.line("  \(quiet(place))  \(DisplayText.escaped(issue.text("reason")))\(more)")
        }
    }

    /// Times of the remote and of the recorder are told apart, because a recorder may have received years of a remote
    /// at once.
    ///
    /// - Parameter hasRemoteTimes: whether something above has a time of the remote.
    private func printFooter(hasRemoteTimes: Bool) throws {
        let sequence = document.text("sequence")
        let asOf = document["asOf"]?.string.map { ", as of \(TimeText.minute($0)) UTC" } ?? ""
        let time = sequence == "0" ? ", before the first event" : asOf
        let profile = document.text("profile")
        let reading = profile.isEmpty || profile == "canonical" ? "" : ", as \(profile) reads it"
        let digest = document["digest"]?.string.map { ", digest \($0)" } ?? ""
        try output.line()
        if hasRemoteTimes {
            try output.line(quiet("times above: the remote's; below: the recorder's; all in UTC"))
        }
        try output.line(quiet("sequence \(sequence)\(time)\(reading)\(digest)"))
    }

    /// A blank line, a title and what is known about it.
    private func heading(_ title: String, _ notes: String) throws {
        try output.line()
        try output.line("\(style.text(DisplayText.escaped(title), .heading))  \(quiet(notes))")
    }

    /// Text in the background. It is escaped here, unlike `style.text`.
    private func quiet(_ text: String) -> String {
        style.text(DisplayText.escaped(text), .quiet)
    }

    /// The rows of a section; empty for one that `--only` left out.
    private func rows(_ section: String) -> [JSONValue] {
        document[section]?.array ?? []
    }
}

extension ViewOptions {
    /// The escaped lines of a text to show: the first, cut to fit behind `used` columns, or all of them. Never empty.
    ///
    /// The rest of a line has 20 columns at least, so a narrow terminal wraps rather than show nothing.
    func lines(of text: String, style: Style, used: Int) -> [String] {
        guard full else {
            let (line, isCut) = DisplayText.firstLine(of: text)
            return [style.fitted(line + (isCut ? " …" : ""), used: used)]
        }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { DisplayText.escaped(String($0)) }
    }
}

/// `1 message`, `2 messages`. For nouns with a regular plural.
func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}

extension JSONValue {
    /// The text of a member; empty if there is none or it is no text.
    func text(_ name: String) -> String {
        self[name]?.string ?? ""
    }
}

extension [JSONValue] {
    /// Groups of rows that agree in some members, in order of first appearance. Linear time.
    func grouped(by members: [String]) -> [[JSONValue]] {
        var groups: [[JSONValue]] = []
        var places: [[String]: Int] = [:]
        for row in self {
            let key = members.map { row.text($0) }
            if let place = places[key] {
                groups[place].append(row)
            } else {
                places[key] = groups.count
                groups.append([row])
            }
        }
        return groups
    }
}
