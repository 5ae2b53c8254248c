import EventLog
import Kinds

/// The memory of one source's decoders, and its folds. Live and saved states share this type.
///
/// To add a decoder or fold, add a property and its line in `visit`, for a decoder its family in `decode` below, and for
/// a fold its sections in `fold(for:)`. The order of the properties is the order of the saved bytes, which other builds
/// discard (I19).
struct SourceParts: Codable, Sendable {
    var gateway = GatewayDecoder()
    var itemMessages = ItemsDecoder()
    var statusFiles = StatusFileDecoder()
    var realtime = RealtimeDecoder()
    var commits = GitCommitDecoder()
    var cloudRecords = CloudKitDecoder()
    var recorderGaps = RecorderGaps()
    var decoderFile = FileDecoder()
    /// No part of facts or normal forms, so not in `visit`.
    var genericClient = GenericClient()

    var channels = Channels()
    var messages = Messages()
    var community = Community()
    var items = Items()
    var sessions = Sessions()
    var prompts = Prompts()
    var rows = Rows()

    /// The log's key, under which the decoders find repeats (I26). Not saved: set again after a load.
    var frameKey: FrameKey {
        get { gateway.connections.key }
        set {
            (gateway.connections.key, realtime.key, commits.key) = (newValue, newValue, newValue)
            decoderFile.key = newValue
        }
    }

    /// Sets what reads the source's next events. A source that declares no app is read as its kinds are.
    mutating func use(_ decoders: Decoders, for source: SourceName) {
        decoderFile.use(decoders, for: source)
        let app = decoders[source]?.app
        realtime.readsTables = app?.readsTables ?? true
        itemMessages.readsStreams = app?.readsStreams ?? true
    }

    /// Passes every part to a visitor: decoders first, then folds in the order in which they apply a change. The names
    /// are those of normal forms and facts; facts are stored in logs, so a name must never change.
    @inline(__always)
    mutating func visit<Visitor: SourcePartVisitor>(
        _ visitor: Visitor,
        _ context: inout Visitor.Context
    ) throws(Visitor.Failure) {
        try visitor.visit("gateway", &gateway, &context)
        try visitor.visit("itemMessages", &itemMessages, &context)
        try visitor.visit("statusFiles", &statusFiles, &context)
        try visitor.visit("realtime", &realtime, &context)
        try visitor.visit("git", &commits, &context)
        try visitor.visit("cloudRecords", &cloudRecords, &context)
        try visitor.visit("recorderGaps", &recorderGaps, &context)
        try visitor.visit("decoderFile", &decoderFile, &context)
        try visitor.visit(fold: "channels", &channels, &context)
        try visitor.visit(fold: "messages", &messages, &context)
        try visitor.visit(fold: "community", &community, &context)
        try visitor.visit(fold: "items", &items, &context)
        try visitor.visit(fold: "sessions", &sessions, &context)
        try visitor.visit(fold: "prompts", &prompts, &context)
        try visitor.visit(fold: "rows", &rows, &context)
    }

    /// The fold with the rows of a section; `nil` for issues, which no fold has. Copies the fold; its storage is
    /// shared.
    func fold(for section: Section) -> (any Fold)? {
        switch section {
        case .channels: channels
        case .messages, .deletedMessages: messages
        case .guilds, .members, .roles, .bans, .presences, .typing, .voiceStates, .readStates: community
        case .items: items
        case .sessions, .sessionAggregates: sessions
        case .prompts: prompts
        case .rows: rows
        case .issues: nil
        }
    }
}

/// An operation on each part of a source. The context holds its input and result.
///
/// Generic methods instead of a list of `any StatePart`, so that calls to `apply` for each event are direct.
protocol SourcePartVisitor {
    associatedtype Context
    associatedtype Failure: Error

    /// Visits a part. `name` is its name in normal forms and facts.
    func visit<Part: StatePart>(_ name: String, _ part: inout Part, _ context: inout Context) throws(Failure)

    /// Visits a fold; by default like any other part. `name` is its name in normal forms and facts.
    func visit<Part: Fold>(fold name: String, _ part: inout Part, _ context: inout Context) throws(Failure)
}

extension SourcePartVisitor {
    @inline(__always)
    func visit<Part: Fold>(fold name: String, _ part: inout Part, _ context: inout Context) throws(Failure) {
        try visit(name, &part, &context)
    }
}

// MARK: - Decoding

extension SourceState {
    /// Decodes one event, after `begin`. Its changes are in `changes` then. Total: an unknown kind and a payload that
    /// does not decode become issues.
    mutating func decode(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        let family = family(of: envelope.kind)
        // Asked of the part: a method of the source that reads alone gets a copy of the whole source, for each event.
        let isOfFile = parts.decoderFile.reads(envelope.kind, family)
        context.rules = rules.forEvents(of: isOfFile ? .generic : family)
        if family == .link, parts.decoderFile.isInForce { context.rules.formUnion(rules.forEvents(of: .generic)) }
        rowRules.formUnion(context.rules)
        // A client may not have read this event at all, for example while it was offline.
        if !context.rules.isEmpty, client?.reads(envelope, context.rules) == false { return }
        if isOfFile {
            parts.itemMessages.heard(envelope)
            return parts.decoderFile.decode(envelope, payload: payload, into: &changes, context: &context)
        }
        switch family {
        case .items where envelope.kind.is(.serverSentEvent) && !parts.itemMessages.readsStreams, .generic:
            parts.itemMessages.heard(envelope)
            parts.decoderFile.noteUnread(envelope.sequence)
        case .git:
            swap(&context.texts, &parts.messages.store.texts)
            parts.commits.decode(envelope, payload: payload, into: &changes, context: &context)
            swap(&context.texts, &parts.messages.store.texts)
        case .gateway: parts.gateway.decode(envelope, payload: payload, into: &changes, context: &context)
        case .items: parts.itemMessages.decode(envelope, payload: payload, into: &changes, context: &context)
        case .status: parts.statusFiles.decode(envelope, payload: payload, into: &changes, context: &context)
        case .oversize:
            parts.recorderGaps.readOversize(at: context.event)
            context.issue("a payload was too large to keep; its length and SHA-256 are in the event")
        case .realtime: parts.realtime.decode(envelope, payload: payload, into: &changes, context: &context)
        case .link:
            // These decoders remember connections; each passes over the links of others.
            parts.gateway.decode(envelope, payload: payload, into: &changes, context: &context)
            parts.realtime.decode(envelope, payload: payload, into: &changes, context: &context)
            parts.itemMessages.linkChanged(envelope)
            parts.recorderGaps.readLink(envelope)
            if context.rules.contains(.openingDropsWhatIsShown), envelope.attributes["link"] == "open" {
                parts.decoderFile.forget()
                changes += parts.genericClient.dropped(parts.messages)
            }
            parts.decoderFile.decode(envelope, payload: payload, into: &changes, context: &context)
            if !context.rules.isEmpty {
                parts.itemMessages.decode(envelope, payload: payload, into: &changes, context: &context)
            }
        case .gatewayAnswer: readAnswer(envelope, payload: payload)
        case .cloudRecords:
            parts.cloudRecords.decode(envelope, payload: payload, into: &changes, context: &context)
        case .gap: parts.recorderGaps.read(payload, context: &context)
        case .observed: break
        case .notice: if !context.rules.isEmpty { parts.commits.noteNotice(envelope) }
        case .unknown:
            // A program with a decoder for the kind may read it later.
            parts.decoderFile.noteUnread(envelope.sequence)
            context.issue("no decoder reads the kind \(envelope.kind)")
        }
    }
}

// MARK: - Operations on all parts

extension SourceParts {
    /// All parts with their names.
    var all: [(name: String, part: any StatePart)] {
        var (parts, all) = (self, [(name: String, part: any StatePart)]())
        parts.visit(Listing(), &all)
        return all
    }

    /// Gives a change to every fold, in the order of `visit`; each touches its own rows.
    @inline(__always)
    mutating func spread(_ change: consuming Change, in context: inout FoldContext) {
        visit(Spreading(change: change), &context)
    }

    /// Applies a retention policy to every fold but the messages.
    mutating func retainOthers(_ policy: RetentionPolicy, names: Names) {
        var context: Void = ()
        visit(Retaining(policy: policy, names: names), &context)
    }

    /// Loads facts into empty parts, before any event. A part without facts gets `null`.
    mutating func load(facts: JSONObject, names: inout Names) throws {
        try visit(Loading(facts: facts), &names)
    }
}

/// The operations of `SourceParts` above, each as a visitor.
private struct Listing: SourcePartVisitor {
    func visit<Part: StatePart>(_ name: String, _ part: inout Part, _ all: inout [(name: String, part: any StatePart)])
    {
        all.append((name, part))
    }
}

private struct Spreading: SourcePartVisitor {
    let change: Change

    @inline(__always)
    func visit<Part: StatePart>(_ name: String, _ part: inout Part, _ context: inout FoldContext) {}

    @inline(__always)
    func visit<Part: Fold>(fold name: String, _ part: inout Part, _ context: inout FoldContext) {
        part.apply(change, in: &context)
    }
}

private struct Retaining: SourcePartVisitor {
    let policy: RetentionPolicy
    let names: Names

    func visit<Part: StatePart>(_ name: String, _ part: inout Part, _ context: inout Void) {}

    func visit<Part: Fold>(fold name: String, _ part: inout Part, _ context: inout Void) {
        if Part.self != Messages.self { part.retain(policy, names: names) }
    }
}

private struct Loading: SourcePartVisitor {
    let facts: JSONObject

    func visit<Part: StatePart>(_ name: String, _ part: inout Part, _ names: inout Names) throws {
        try part.load(facts: facts[name] ?? .null, names: &names)
    }
}
