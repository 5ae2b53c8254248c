import EventLog
import JSON

/// Reads observations of status files: `status.file/1`, attributes `path` and `op` (`write` or `remove`).
///
/// Only files directly in the watched folder count: the attribute `folder`, else `/tmp`. A file
/// `vibestatus-prompt-….json` is a prompt, any other `vibestatus-….json` a session; other files are ignored. The id is
/// the file's name. A byte of it that is no UTF-8 is written as `%XX`, and a `%` that would be read as such a byte as `%25`.
///
/// A file states its whole content, so canonically the decoder needs no memory.
struct StatusFileDecoder: SourceDecoder {
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
        let isEncoded = envelope.attributes["encoded"] != nil
        guard let file = StatusFileName(path: path, folder: folder, isEncoded: isEncoded) else { return }
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

    func collectNeeded(into sequences: inout SequenceSet) {}

    // Empty: uploads belong to profiles, and compactions are canonical.
    func normalForm(names: Names, into take: (JSONValue) -> Void) {}

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

extension StatusFileDecoder {
    /// Reads a session's file. A rejected text is an issue; canonically it ends no session.
    private mutating func readSession(
        _ payload: UnsafeRawBufferPointer,
        name: Substring,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let id = context.names.id(name)
        let session: StatusText.Session
        do throws(StatusText.Fault) {
            session = try StatusText.session(payload)
        } catch {
            context.issue("status file: \(error.reason)")
            uploads.takeFault(of: id, in: context)
            if context.rules.contains(.unreadableFileEndsTheSession) { changes.append(.session(.removed(id))) }
            return
        }
        let fields = SessionFields(
            id: id,
            project: session.project ?? "Unknown",
            status: session.status,
            timestamp: session.timestamp,
            // Staleness needs an instant. A file without a time counts from its receipt, as close as the log can tell.
            instant: session.instant ?? context.event.recordedAt,
            pid: session.pid
        )
        if let uploaded = uploads.take(fields, in: context) { changes.append(.session(.observed(uploaded))) }
    }

    /// Reads a prompt's file. A rejected text is an issue, and the prompt unreadable until the next accepted one.
    private mutating func readPrompt(
        _ payload: UnsafeRawBufferPointer,
        name: Substring,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        let id = context.names.id(name)
        let members: ObjectView
        do throws(StatusText.Fault) {
            members = try StatusText.prompt(payload)
        } catch {
            context.issue("prompt file: \(error.reason)")
            if !context.rules.contains(.unreadablePromptIsNone) { changes.append(.prompt(.unreadable(id))) }
            return
        }
        if context.rules.contains(.promptIsNotUploaded) { return }
        let fields = PromptFields(
            id: uploads.prompt(of: id, in: &context),
            session: members["session_id"]?.string,
            project: members["project"]?.string,
            text: members["prompt_message"]?.string,
            askedAt: members["timestamp"]?.string.flatMap(RemoteTime.statusFile) ?? context.event.recordedAt
        )
        changes.append(.prompt(.asked(fields)))
    }
}

/// The name of a session's or prompt's file.
struct StatusFileName {
    /// The file's name without its folder, spelled as no other name is.
    let name: Substring
    let isPrompt: Bool

    /// Compares bytes, so no two spellings of one name in Unicode are one file. `nil` if the file is not directly in
    /// the folder, or belongs to neither a session nor a prompt.
    ///
    /// - Parameter isEncoded: whether bytes of the name that are no UTF-8 are percent-encoded in the path. Each `%` before
    ///   the digits of such a byte is then `%25` in it.
    init?(path: String, folder: String, isEncoded: Bool) {
        var (path, folder) = (path, folder)
        let found = path.withUTF8 { path in
            folder.withUTF8 { Self.name(in: UnsafeRawBufferPointer(path), folder: UnsafeRawBufferPointer($0)) }
        }
        guard let found else { return nil }
        let spelled = Substring(path.utf8.dropFirst(found.start))
        name =
            isEncoded || !spelled.utf8.contains(UInt8(ascii: "%"))
            ? spelled : Substring(decoding: PercentEncoding.escapingSigns(Array(spelled.utf8)), as: UTF8.self)
        isPrompt = found.isPrompt
    }

    /// Where the name begins in a path, if it is one of this app's, and whether it is a prompt's.
    private static func name(
        in path: UnsafeRawBufferPointer,
        folder: UnsafeRawBufferPointer
    ) -> (start: Int, isPrompt: Bool)? {
        let slash = UInt8(ascii: "/")
        var start = folder.count
        guard path.count > start, UnsafeRawBufferPointer(rebasing: path[..<start]).isSame(folder) else { return nil }
        if folder.last != slash {
            guard path[start] == slash else { return nil }
            start += 1
        }
        let name = UnsafeRawBufferPointer(rebasing: path[start...])
        guard name.hasPrefix("vibestatus-"), name.hasSuffix(".json"), name.allSatisfy({ $0 != slash }) else {
            return nil
        }
        return (start, name.hasPrefix("vibestatus-prompt-"))
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func hasPrefix(_ prefix: StaticString) -> Bool {
        count >= prefix.utf8CodeUnitCount && holds(prefix, at: 0)
    }

    fileprivate func hasSuffix(_ suffix: StaticString) -> Bool {
        count >= suffix.utf8CodeUnitCount && holds(suffix, at: count - suffix.utf8CodeUnitCount)
    }

    private func holds(_ text: StaticString, at offset: Int) -> Bool {
        let part = UnsafeRawBufferPointer(rebasing: self[offset..<offset + text.utf8CodeUnitCount])
        return part.isSame(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
