package import EventLog
import Kinds
public import Projections

extension ReadingRules: ExpressibleByArrayLiteral {
    /// Makes a set of rules.
    public init(_ rules: some Sequence<ReadingRule>) { self.init(rules, of: RuleClient.self) }

    /// Makes a set of rules.
    public init(arrayLiteral rules: ReadingRule...) { self.init(rules) }
}

/// The clients that read by rules. It remembers of a source's events what decides which of them a client receives: a
/// recorder fetches answers on each connection; a client that stays in one view does not.
package struct RuleClient: Client {
    /// The name of the source's first connection: a client fetches its initial state there. `nil` until an event names
    /// one.
    private var firstConnection: String?
    /// Whether the client has seen an event of a stream. Stays true from then on.
    private var hasStream = false
    /// Whether an answer came after the stream's last event.
    private var hasAnswer = false
    /// How often a connection of the source opened.
    private var openCount = 0

    /// The app connects at its start and when it comes to the front. A third connection is the first one's late
    /// reconnect.
    private static let wantedConnections = 2

    package init() {}

    package static func files(_ rules: ReadingRules) -> any MessageFileReader { ClientFiles(rules: rules) }

    /// Counts connections and remembers what came, besides.
    package mutating func reads(_ envelope: Envelope, _ rules: ReadingRules) -> Bool {
        if firstConnection == nil { firstConnection = envelope.attributes["connection"] }
        let kind = KnownKind(envelope.kind)
        if kind == .recorderLink, envelope.attributes["link"] == "open" { openCount += 1 }
        return switch kind {
        case .gatewayREST, .realtimeREST:
            !rules.contains(.laterAnswersAreNotRead) || envelope.attributes["connection"] == firstConnection
                || isGuildList(envelope, rules)
        case .httpAnswer: !rules.contains(.answersCountUntilAReconnect) || openCount <= 1
        case .itemsMessage:
            readsAnswer(rules) && readsConnection(rules)
        case .serverSentEvent:
            readsEvent(rules) && readsConnection(rules)
        default: true
        }
    }

    package mutating func noteFrame(on connection: String?) {
        if firstConnection == nil { firstConnection = connection }
    }

    /// Whether the event is the list of guilds, which the web client requests on each READY.
    private func isGuildList(_ envelope: Envelope, _ rules: ReadingRules) -> Bool {
        rules.contains(.guildsLeftAreGone) && envelope.attributes["path"]?.hasSuffix("/users/@me/guilds") == true
    }

    /// Notes an answer with a list; false if the client was not waiting for one.
    private mutating func readsAnswer(_ rules: ReadingRules) -> Bool {
        hasAnswer = true
        return !(hasStream && rules.contains(.laterAnswersAreNotRead))
    }

    /// Notes an event of the stream; false if the client passes over it.
    private mutating func readsEvent(_ rules: ReadingRules) -> Bool {
        // Only the first event after an answer is skipped.
        defer { hasAnswer = false }
        hasStream = true
        if rules.contains(.streamIsNeverOpened) { return false }
        return !(hasAnswer && rules.contains(.eventAfterAnAnswerIsSkipped))
    }

    private func readsConnection(_ rules: ReadingRules) -> Bool {
        !(openCount > Self.wantedConnections && rules.contains(.thirdConnectionIsOfTheDefault))
    }
}
