import EventLog

/// Reads observations of status files: `status.file/1`, attributes `path` and `op` (`write` or `remove`).
///
/// Only files directly in the watched folder count: the attribute `folder`, else `/tmp`. A file
/// `vibestatus-prompt-….json` is a prompt, any other `vibestatus-….json` a session; other files are ignored. The id is
/// the file's name.
///
/// A file states its whole content, so canonically the decoder needs no memory.
struct StatusFileDecoder: EventDecoder {
    /// The uploads to the cloud. Only profiles of clients that read the cloud use it.
    private var uploads = StatusUploads()

    init() {}

    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        guard let path = envelope.attributes["path"] else { return context.issue("status file: path is missing") }
        let folder = envelope.attributes["folder"] ?? "/tmp"
        guard let file = StatusFileName(path: path, folder: folder) else { return }
        switch envelope.attributes["op"] {
        case "remove":
            let id = context.names.id(file.name)
            if file.isPrompt {
                if !context.rules.contains(.everyPromptStays) { changes.append(.prompt(.removed(id))) }
            } else if uploads.takeRemoval(of: id, in: context) {
                changes.append(.session(.removed(id)))
            }
        case "write" where file.isPrompt:
            readPrompt(payload, name: file.name, into: &changes, context: &context)
        case "write":
            readSession(payload, name: file.name, into: &changes, context: &context)
        default:
            context.issue("status file: op is neither write nor remove")
        }
    }

    func collectNeeded(into sequences: inout Set<UInt64>) {}

    // Empty: uploads belong to profiles, and compactions are canonical.
    func normalForm(names: Names, into take: (JSONValue) -> Void) {}

    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

extension StatusFileDecoder {
    /// Reads a session's file. A rejected text is an issue; canonically it ends no session.
    private mutating func readSession(
        _ payload: UnsafeRawBufferPointer,
        name: String,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let id = context.names.id(name)
        switch StatusText.session(payload) {
        case .failure(let fault):
            context.issue("status file: \(fault.reason)")
            uploads.takeFault(of: id, in: context)
            if context.rules.contains(.unreadableFileEndsTheSession) { changes.append(.session(.removed(id))) }
        case .success(let object):
            let timestamp = object["timestamp"]?.string
            let fields = SessionFields(
                id: id,
                project: object["project"]?.string ?? "Unknown",
                status: object["state"]?.string ?? "",
                timestamp: timestamp,
                // Staleness needs an instant. A file without a time counts from its receipt, as close as the log can
                // tell.
                instant: timestamp.flatMap(RemoteTime.statusFile) ?? context.event.recordedAt,
                pid: object["pid"]?.number?.wholeInt64
            )
            if let uploaded = uploads.take(fields, in: context) { changes.append(.session(.observed(uploaded))) }
        }
    }

    /// Reads a prompt's file. A rejected text is an issue, and the prompt unreadable until the next accepted one.
    private mutating func readPrompt(
        _ payload: UnsafeRawBufferPointer,
        name: String,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let id = context.names.id(name)
        switch StatusText.prompt(payload) {
        case .failure(let fault):
            context.issue("prompt file: \(fault.reason)")
            if !context.rules.contains(.unreadablePromptIsNone) { changes.append(.prompt(.unreadable(id))) }
        case .success(let object):
            if context.rules.contains(.promptIsNotUploaded) { return }
            let fields = PromptFields(
                id: uploads.prompt(of: id, in: &context),
                session: object["session_id"]?.string,
                project: object["project"]?.string,
                text: object["prompt_message"]?.string,
                askedAt: object["timestamp"]?.string.flatMap(RemoteTime.statusFile) ?? context.event.recordedAt
            )
            changes.append(.prompt(.asked(fields)))
        }
    }
}

/// The name of a session's or prompt's file.
struct StatusFileName {
    /// The file's name without its folder.
    let name: String
    let isPrompt: Bool

    /// Compares bytes, so no two spellings of one name in Unicode are one file. `nil` if the file is not directly in
    /// the folder, or belongs to neither a session nor a prompt.
    init?(path: String, folder: String) {
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        // `nil` only if the cut were within a character; the prefix is whole text, so it is not.
        let name = String(path.utf8.dropFirst(prefix.utf8.count)) ?? ""
        guard !name.utf8.contains(UInt8(ascii: "/")), name.utf8.starts(with: "vibestatus-".utf8),
            name.utf8.suffix(5).elementsEqual(".json".utf8)
        else { return nil }
        self.name = name
        isPrompt = name.utf8.starts(with: "vibestatus-prompt-".utf8)
    }
}
