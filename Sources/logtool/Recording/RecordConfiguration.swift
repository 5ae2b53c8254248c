#if Recorders
import EventLog
import Ingest
import JetStream
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The configuration file of `logtool record` (docs/recording.md): logs, the sources of each, and where metrics are
/// served. It names the places of tokens, never tokens (I14). Paths in it are absolute once it is read. Reading it
/// makes each source once, which finds most mistakes, but reaches no network and reads no token.
struct RecordConfiguration: Equatable, Sendable {
    /// One source and the log that it is recorded in. Equal entries are one recorder: `Supervisor` leaves it running
    /// when the file is read again.
    struct Entry: Hashable, Sendable {
        let log: String
        let settings: SourceSettings

        /// The source's name in the log; its address if the settings make no source.
        var name: String { (try? settings.makeSource(follows: true).name.rawValue) ?? settings.address }
    }

    /// What is done to a log again and again.
    struct Upkeep: Hashable, Sendable {
        /// What it is.
        enum Work: Hashable, Sendable {
            /// A compaction by the log's own policy, which seals what is older than an age; `nil` seals nothing further.
            case compact(sealing: Duration?)
            /// New events go into a tree or a stream.
            case ship(Shipping)
        }

        let log: String
        let interval: Duration
        var work = Work.compact(sealing: nil)
    }

    /// The tree or the stream that a log is shipped to.
    struct Shipping: Hashable, Sendable {
        /// What takes the events.
        enum Target: Hashable, Sendable {
            /// A tree, by the path of its folder.
            case tree(String)
            /// A stream, made on so many servers of a cluster.
            case stream(StreamAccess, replicas: Int)
        }

        let target: Target
        /// The path of the key that signs; `nil` for none.
        var key: String?
        /// What the log calls itself; `nil` for the tree's own, or one of the identity.
        var origin: String?

        /// The folder or the address.
        var place: String {
            switch target {
            case .tree(let folder): folder
            case .stream(let access, _): access.place
            }
        }
    }

    /// In the order of the file; each source of a log once.
    var entries: [Entry] = []
    /// In the order of the file; each log at most once for each work.
    var upkeeps: [Upkeep] = []
    /// The address that serves metrics, `HOST:PORT`; `nil` for none.
    var metrics: String?
    /// Certificates to check servers against, in place of the system's; `nil` for the system's.
    var trustFile: String?

    /// Reads a file.
    ///
    /// - Throws: `Failure` that names the file and its mistake.
    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure("read configuration \"\(path)\": the file cannot be read")
        }
        try self.init(
            text: String(decoding: data, as: UTF8.self),
            path: path,
            folder: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    /// Reads a text; paths in it are relative to a folder.
    ///
    /// - Parameter path: The file's path, for messages.
    /// - Throws: `Failure` that names the file and its mistake.
    init(text: String, path: String, folder: URL) throws {
        let reader = ConfigurationReader(path: path, folder: folder)
        try read(try reader.root(text), reader)
    }

    /// Reads the whole file. Order matters only for messages: the first mistake is reported.
    private mutating func read(_ root: JSONObject, _ reader: ConfigurationReader) throws {
        try reader.check(root, knows: ["metrics", "ca-file", "logs"], place: "the file")
        metrics = try reader.text(root, "metrics", place: "the file")
        trustFile = try reader.path(root, "ca-file", place: "the file")
        for (index, log) in try reader.mappings(root, "logs", place: "the file").enumerated() {
            let place = "logs[\(index)]"
            try reader.check(log, knows: ["path", "sources", "compact", "seal", "ship"], place: place)
            guard let path = try reader.path(log, "path", place: place) else {
                throw reader.failure("\(place) has no path")
            }
            if let interval = try reader.compaction(log, place: place) {
                guard !upkeeps.contains(where: { $0.log == path && $0.shipping == nil }) else {
                    throw reader.failure("the log \(path) has compact twice")
                }
                let age = try reader.duration(log, "seal", place: place)
                upkeeps.append(Upkeep(log: path, interval: interval, work: .compact(sealing: age)))
            } else if try reader.duration(log, "seal", place: place) != nil {
                throw reader.failure("\(place): seal goes with compact, which seals while it rewrites the log")
            }
            if let upkeep = try reader.shipping(log, path, place: place) {
                // A server has a stream for each log, unless the address names one.
                let place = upkeep.shipping?.place ?? ""
                let isShared = try NATSAddress.isAddress(place) && NATSAddress(place).stream == nil
                guard isShared || !upkeeps.contains(where: { $0.shipping?.place == place }) else {
                    throw reader.failure("two logs are shipped to \(place)")
                }
                upkeeps.append(upkeep)
            }
            for (number, source) in try reader.mappings(log, "sources", place: place).enumerated() {
                let settings = try reader.settings(source, place: "\(place).sources[\(number)]")
                entries.append(Entry(log: path, settings: settings))
            }
        }
        try checkNames(reader)
    }

    /// Refuses a file without sources, and two sources of one log with the same name: a source has one recorder (I6).
    /// Making each source here also finds mistakes in addresses.
    private func checkNames(_ reader: ConfigurationReader) throws {
        guard !entries.isEmpty else { throw reader.failure("it names no source") }
        var seen: Set<[String]> = []
        for entry in entries {
            let name = try entry.settings.makeSource(follows: true).name
            guard name != .logtool else { throw reader.failure("the source name \"logtool\" is reserved") }
            // Paths are compared as texts. Two spellings of one log meet at the source's lock instead (I6).
            guard seen.insert([entry.log, name.rawValue]).inserted else {
                throw reader.failure("the source \"\(name)\" stands twice in the log \(entry.log); name one with as")
            }
        }
    }
}

extension RecordConfiguration.Upkeep {
    /// Where the log is shipped to; `nil` if it is compacted.
    var shipping: RecordConfiguration.Shipping? {
        if case .ship(let shipping) = work { shipping } else { nil }
    }
}

/// Reads the parts of the file. Unknown members are refused, so that a misspelt one does not pass as absent. `place`
/// names the part in messages. It reads YAML's structure alone; what a value means is for `SourceSettings`.
struct ConfigurationReader {
    let path: String
    let folder: URL

    /// The members of a source. Which of them a kind uses is not checked. Sources check what they need when they are
    /// made.
    private static let known: Set<String> = [
        "kind", "address", "as", "branch", "api", "token-env", "token-file", "api-key-env", "api-key-file", "rest",
        "refresh-url", "refresh-file", "intents",
        "tables", "patterns", "poll", "interval", "environment", "allow-alternates", "redact", "send", "subprotocol",
        "decoder", "app",
    ]

    /// An error that names the file. It must quote no value that may be a secret in the wrong place (I14).
    func failure(_ reason: String) -> Failure {
        Failure("read configuration \"\(path)\": \(reason)")
    }

    /// The outermost mapping. An error names the line where YAML itself is at fault.
    func root(_ text: String) throws -> JSONObject {
        do throws(YAMLDocument.Fault) {
            return try YAMLDocument.members(of: text)
        } catch {
            throw failure("\(error.line.map { "line \($0): " } ?? "")it \(error.reason); see docs/recording.md")
        }
    }

    /// Refuses unknown members. A member that looks like a secret gets advice of its own, and its value is never
    /// printed.
    func check(_ mapping: JSONObject, knows names: Set<String>, place: String) throws {
        for name in mapping.members.map(\.name) {
            // `token` itself, and misspelt names such as `token-evn`.
            if name.hasPrefix("token") && !names.contains(name) || name == "password" {
                throw failure("\(place) holds a secret; name where it is with token-env or token-file")
            }
            guard names.contains(name) else { throw failure("\(place) has \"\(name)\", which means nothing here") }
        }
    }

    /// A text; `nil` if it is missing or null.
    func text(_ mapping: JSONObject, _ name: String, place: String) throws -> String? {
        guard let value = mapping[name], !value.isNull else { return nil }
        guard let text = value.string else { throw failure("\(place): \(name) is no text") }
        return text
    }

    /// A path, relative to the file's folder; a leading `~` is the home. `nil` if it is missing.
    func path(_ mapping: JSONObject, _ name: String, place: String) throws -> String? {
        guard let text = try text(mapping, name, place: place) else { return nil }
        if text == "~" || text.hasPrefix("~/") {
            return FileManager.default.homeDirectoryForCurrentUser.path + text.dropFirst()
        }
        return text.hasPrefix("/") ? text : folder.appendingPathComponent(text).path
    }

    /// A list of mappings, which must exist.
    func mappings(_ mapping: JSONObject, _ name: String, place: String) throws -> [JSONObject] {
        guard let value = mapping[name], !value.isNull else { throw failure("\(place) has no \(name)") }
        guard let sequence = value.array else { throw failure("\(place): \(name) is no list") }
        return try sequence.map { element in
            guard let mapping = element.object else { throw failure("\(place): an element of \(name) is no mapping") }
            return mapping
        }
    }

    /// A list of texts, or one text alone; empty if it is missing.
    private func texts(_ mapping: JSONObject, _ name: String, place: String) throws -> [String] {
        guard let value = mapping[name], !value.isNull else { return [] }
        if let text = value.string { return [text] }
        guard let sequence = value.array else { throw failure("\(place): \(name) is no list") }
        return try sequence.map { element in
            guard let text = element.string else { throw failure("\(place): an element of \(name) is no text") }
            return text
        }
    }

    /// How often a log is compacted; `nil` for never.
    fileprivate func compaction(_ mapping: JSONObject, place: String) throws -> Duration? {
        guard let text = try text(mapping, "compact", place: place) else { return nil }
        if text == "daily" { return .seconds(86_400) }
        guard let interval = try? DurationText.parse(text), interval >= .seconds(60) else {
            throw failure("\(place): compact is daily, or a duration of a minute or more, such as 12h")
        }
        return interval
    }

    /// A duration, such as 30d; `nil` for none.
    func duration(_ mapping: JSONObject, _ name: String, place: String) throws -> Duration? {
        guard let text = try text(mapping, name, place: place) else { return nil }
        guard let duration = try? DurationText.parse(text) else {
            throw failure("\(place): \(name) is a duration, such as 30d")
        }
        return duration
    }

    /// Reads one source. Addresses of directories and repositories are paths; all others are taken as they are.
    func settings(_ mapping: JSONObject, place: String) throws -> SourceSettings {
        try check(mapping, knows: Self.known, place: place)
        guard let kind = try text(mapping, "kind", place: place).flatMap({ SourceSettings.Kind(rawValue: $0) }) else {
            let kinds = SourceSettings.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw failure("\(place) has no kind that can be followed; there are \(kinds)")
        }
        guard let address = try text(mapping, "address", place: place) else {
            throw failure("\(place) has no address")
        }
        var settings = SourceSettings(kind: kind, address: address)
        if kind == .status || kind == .git { settings.address = try path(mapping, "address", place: place) ?? address }
        settings.name = try text(mapping, "as", place: place)
        settings.branch = try text(mapping, "branch", place: place)
        settings.api = try text(mapping, "api", place: place)
        settings.tokenEnvironment = try text(mapping, "token-env", place: place)
        settings.tokenFile = try path(mapping, "token-file", place: place)
        settings.keyEnvironment = try text(mapping, "api-key-env", place: place)
        settings.keyFile = try path(mapping, "api-key-file", place: place)
        settings.refreshURL = try text(mapping, "refresh-url", place: place)
        settings.refreshFile = try path(mapping, "refresh-file", place: place)
        settings.rest = try text(mapping, "rest", place: place).map(RESTArgument.base)
        settings.environment = try text(mapping, "environment", place: place)
        settings.tables = try texts(mapping, "tables", place: place)
        settings.patterns = try texts(mapping, "patterns", place: place)
        settings.greetings = try texts(mapping, "send", place: place)
        settings.subprotocol = try text(mapping, "subprotocol", place: place)
        settings.decoder = try decoder(mapping, kind, place: place)
        settings.app = try app(mapping, kind, place: place)
        do {
            settings.redaction = try RedactionRules(texts(mapping, "redact", place: place))
        } catch let error as IngestError {
            throw failure("\(place): \(error)")
        }
        try readNumbers(mapping, &settings, place: place)
        return settings
    }

    /// The path of a decoder file, which is read here once, so that its mistakes are found at once.
    private func decoder(_ mapping: JSONObject, _ kind: SourceSettings.Kind, place: String) throws -> String? {
        guard let path = try path(mapping, "decoder", place: place) else { return nil }
        guard [.sse, .ws, .http].contains(kind) else { throw failure("\(place): decoder goes with sse, ws and http") }
        do {
            try DecoderArgument.checkSamples(of: try DecoderArgument.file(path))
        } catch {
            throw failure("\(place): \(error)")
        }
        return path
    }

    /// The app that the source is of.
    private func app(_ mapping: JSONObject, _ kind: SourceSettings.Kind, place: String) throws -> BuiltInApp? {
        guard let text = try text(mapping, "app", place: place) else { return nil }
        guard [.sse, .ws, .http, .realtime].contains(kind), mapping["decoder"] == nil else {
            throw failure("\(place): app goes with sse, ws, http and realtime, without decoder")
        }
        guard let app = BuiltInApp(rawValue: text) else {
            throw failure("\(place): app is one of \(AppArgument.names)")
        }
        return app
    }

    /// YAML scalars arrive as texts here, so only `true` and `false` count.
    private func truth(_ mapping: JSONObject, _ name: String, place: String) throws -> Bool? {
        guard let text = try text(mapping, name, place: place) else { return nil }
        guard text == "true" || text == "false" else { throw failure("\(place): \(name) is neither true nor false") }
        return text == "true"
    }

    /// The members that are numbers, durations or truth values.
    private func readNumbers(_ mapping: JSONObject, _ settings: inout SourceSettings, place: String) throws {
        if let text = try text(mapping, "intents", place: place) {
            guard let number = UInt64(text) else { throw failure("\(place): intents is no number") }
            settings.intents = number
        }
        if let text = try text(mapping, "interval", place: place) {
            guard let interval = try? DurationText.parse(text) else {
                throw failure("\(place): interval is no duration")
            }
            settings.interval = interval
        }
        settings.polls = try truth(mapping, "poll", place: place) ?? settings.polls
        settings.allowsAlternates = try truth(mapping, "allow-alternates", place: place) ?? settings.allowsAlternates
    }
}
#endif
