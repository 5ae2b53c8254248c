extension AgentTool {
    /// The tools that read.
    static let reading: [AgentTool] = [
        AgentTool(
            name: "replay",
            description: "The state of the log at a point: channels, messages with threads, items, sessions, rows.",
            command: ["replay"],
            fixed: ["--json"],
            parameters: [
                at, channel, source,
                text("only", "--only", "Only these parts, such as channels,messages,items."),
                text("profile", "--profile", "Whose reading of the bytes: canonical, or a client's."),
            ]
        ),
        AgentTool(
            name: "history",
            description: "Every version of a message or item, who changed it, and what it said; by entity or by text.",
            command: ["history"],
            fixed: ["--jsonl"],
            parameters: [
                Parameter(
                    name: "entity",
                    kind: .string,
                    place: .argument,
                    description: "A message, item, session or row: its id, or SOURCE/CHANNEL/ID."
                ),
                text("match", "--match", "In place of an entity: what holds or held this text."),
                ignoringCase, source, channel, last,
            ]
        ),
        AgentTool(
            name: "audit",
            description: "Edits and deletes, with what was said before; by author, channel, time or text.",
            command: ["audit"],
            fixed: ["--jsonl"],
            parameters: [
                flag("edits", "--edits", "Only edits."), flag("deletes", "--deletes", "Only deletes."),
                text("author", "--author", "Only what this author wrote: an id or a name."),
                text("by", "--by", "Only what somebody did, where the remote tells."),
                text("match", "--match", "Only what holds or held this text."),
                ignoringCase, source, channel, from, to, last,
            ]
        ),
        AgentTool(
            name: "events",
            description: "The recorded events, in order: what arrived when, of which kind; with payloads if asked.",
            command: ["events"],
            fixed: ["--jsonl"],
            parameters: [
                source, channel,
                text("entity", "--entity", "Only what may have changed this thing."),
                text("kind", "--kind", "Only events of this kind, such as gateway.frame/1."),
                text("match", "--match", "Only what holds this text."),
                ignoringCase, from, to, last, flag("payload", "--payload", "The bytes, too."),
            ]
        ),
        AgentTool(
            name: "diff",
            description: "What differs between two points of the log, or between the canonical reading and a client's.",
            command: ["diff"],
            fixed: ["--jsonl"],
            parameters: [
                Parameter(
                    name: "from",
                    kind: .string,
                    place: .point(0),
                    description: "The first point; default: head."
                ),
                Parameter(name: "to", kind: .string, place: .point(1), description: "The second point; default: head."),
                Parameter(
                    name: "profile",
                    kind: .string,
                    place: .profile,
                    description: "The second state as this profile reads it."
                ),
                flag("explain", "--explain", "The events responsible for each difference."), source, channel,
            ],
            isOfTwo: true
        ),
        AgentTool(
            name: "bisect",
            description: "The first event after which an expression over the state holds (docs/expressions.md).",
            command: ["bisect"],
            fixed: ["--json"],
            parameters: [
                text("when", "--when", "Such as: count(messages[content=\"hi\"]) > 1", isRequired: true),
                text("good", "--good", "A point where all is well; default: before the first event."),
                text("bad", "--bad", "A point where it is wrong; default: head."),
                text("profile", "--profile", "Whose reading of the bytes: canonical, or a client's."),
                flag("all", "--all", "Every event where the answer changes."),
            ]
        ),
        AgentTool(
            name: "gaps",
            description: "The times in which changes may be missing.",
            command: ["gaps"],
            fixed: ["--jsonl"],
            parameters: [source, channel, from, to, last]
        ),
        AgentTool(
            name: "stats",
            description: "How much the log holds: events by source and kind, time span, size, state.",
            command: ["stats"],
            fixed: ["--json"],
            parameters: []
        ),
        AgentTool(
            name: "profiles",
            description: "Which reading rules of clients apply to the log, and how often they changed something.",
            command: ["profiles"],
            fixed: ["--json"],
            parameters: []
        ),
        AgentTool(
            name: "decoder_check",
            description:
                "What a decoder file makes of the log: its samples, the events that each rule takes and none takes.",
            command: ["decoder", "check"],
            fixed: ["--json"],
            parameters: [
                Parameter(
                    name: "decoder",
                    kind: .string,
                    place: .input,
                    description: "The text of the file, YAML.",
                    isRequired: true
                )
            ]
        ),
        AgentTool(
            name: "sql",
            description: "One SELECT (SQLite) over tables of the state and of the events; sqlite_schema lists them.",
            command: ["sql"],
            fixed: ["--jsonl"],
            parameters: [
                Parameter(
                    name: "statement",
                    kind: .string,
                    place: .argument,
                    description: "The statement.",
                    isRequired: true
                )
            ]
        ),
    ]

    /// The tools that write into the folder that the command names.
    static let writing: [AgentTool] = [
        AgentTool(
            name: "freeze",
            description: "Writes a fixture: the log up to a point, with the state that a test expects.",
            command: ["freeze"],
            fixed: ["--json"],
            parameters: [output, at, text("profile", "--profile", "A client whose state is kept, too.")],
            writes: true
        ),
        AgentTool(
            name: "shrink",
            description: "Writes the smallest log in which an expression still holds.",
            command: ["shrink"],
            fixed: ["--json", "--time=60s"],
            parameters: [
                output,
                text("when", "--when", "The expression (docs/expressions.md).", isRequired: true),
                text("profile", "--profile", "Whose reading of the bytes: canonical, or a client's."),
                flag("anonymize", "--anonymize", "Replace words, ids, times and names."),
            ],
            writes: true
        ),
    ]

    private static let at = text("at", "--at", "The point: a sequence, head~10, a time, remote:TIME; default: head.")
    private static let channel = text("channel", "--channel", "Only this channel: SOURCE/ID, its id or its name.")
    private static let source = text("source", "--source", "Only what this recorder received.")
    private static let from = text("from", "--from", "The first event: a sequence, head~10, a time, remote:TIME.")
    private static let to = text("to", "--to", "The last event.")
    private static let last = number("last", "--max-count", "Only the last so many.")
    private static let ignoringCase = flag("ignore_case", "--ignore-case", "Take large and small letters for the same.")
    private static let output = Parameter(
        name: "name",
        kind: .string,
        place: .name,
        description: "What to call it: letters, digits, dots, hyphens.",
        isRequired: true
    )

    private static func text(
        _ name: String,
        _ option: String,
        _ description: String,
        isRequired: Bool = false
    ) -> Parameter {
        Parameter(
            name: name,
            kind: .string,
            place: .option(option),
            description: description,
            isRequired: isRequired
        )
    }

    private static func number(_ name: String, _ option: String, _ description: String) -> Parameter {
        Parameter(name: name, kind: .integer, place: .option(option), description: description)
    }

    private static func flag(_ name: String, _ option: String, _ description: String) -> Parameter {
        Parameter(name: name, kind: .boolean, place: .flag(option), description: description)
    }
}
