import EventLog
import Kinds

/// Finds the scopes of one source's events, in sequence order, without folding them.
///
/// It remembers what the decoder remembers, so that it detects repeats of frames exactly as a fold does (I18), but no
/// message. Every event of the source must pass through `isRepeat` or `scope`.
struct SourceScan {
    private var state: SourceState
    /// Whether all events so far were told apart by channel.
    private(set) var isDivided = true
    /// Whether an id was named with several channels. Then one message may depend on the events of several channels, and
    /// the postings are never read; they are still told apart, so that they do not depend on when this was found.
    var hasStrays = false
    /// The messages that the last event named.
    private(set) var namedMessages: [MessageKey] = []

    init(name: SourceName, frameKey: FrameKey) {
        state = SourceState(name: name)
        state.parts.gateway.connections.key = frameKey
    }

    /// Goes on where another scan of the source has ended.
    init(
        name: SourceName,
        isDivided: Bool,
        hasStrays: Bool,
        connections: GatewayConnections,
        frameKey: FrameKey
    ) {
        self.init(name: name, frameKey: frameKey)
        (self.isDivided, self.hasStrays) = (isDivided, hasStrays)
        state.parts.gateway.connections = connections
        state.parts.gateway.connections.key = frameKey
    }

    /// Begins within a source. Detects no repeats, as it does not know the frames before.
    init(within name: SourceName) {
        self.init(name: name, frameKey: .none)
        state.parts.gateway.connections.knownRepeats = []
    }

    var name: SourceName { state.name }

    /// The part of the decoder's memory that must be kept for going on: divided sources have gateway events only.
    var connections: GatewayConnections { state.parts.gateway.connections }

    /// Notes a plain frame; true if it repeats an earlier one, which changes nothing.
    @inline(__always)
    mutating func isRepeat(_ frame: PlainFrame, _ event: EventReference, connection: String?) -> Bool {
        state.parts.gateway.connections.now = event.recordedAt
        return state.parts.gateway.isRepeat(frame, on: connection, at: event.sequence)
    }

    /// The scope of an event that is no plain frame; decodes it. Afterwards `namedMessages` has its messages.
    mutating func scope(of envelope: Envelope, payload: UnsafeRawBufferPointer) -> EventScope {
        state.begin(EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt))
        namedMessages = []
        switch EventFamily(kind: envelope.kind) {
        case .gap, .oversize, .notice, .unknown: return .nothing
        case .gateway, .link:
            state.decode(envelope, payload: payload)
            namedMessages = state.changes.flatMap(\.messages)
            return storable(EventScope(of: state.changes))
        case .gatewayAnswer:
            let answer = GatewayAnswer(envelope, payload: payload, context: &state.context)
            namedMessages = answer.changes.flatMap(\.messages)
            let scope = storable(EventScope(of: answer.changes))
            if answer.wholeSets.isEmpty { return scope }
            // A thing that a complete set lacks is gone, so channels that the answer does not name may change.
            switch scope {
            case .nothing: return .everything(naming: [])
            case .channels(let named): return .everything(naming: named)
            case .everything, .undivided: return scope
            }
        // Sources of any other family are not divided: their state is folded whole.
        default:
            isDivided = false
            return .undivided
        }
    }

    /// The channels whose rows an event that is no plain frame can change; `nil` if it can change other rows, or leaves an
    /// issue. Decodes it.
    mutating func onlyChannels(of envelope: Envelope, payload: UnsafeRawBufferPointer) -> [EntityID]? {
        let family = EventFamily(kind: envelope.kind)
        if family == .notice { return [] }
        // Complete sets in answers change what they do not name.
        guard family == .gateway || family == .link else { return nil }
        let scope = scope(of: envelope, payload: payload)
        guard state.context.reasons.isEmpty, state.changes.allSatisfy(\.isOfNamedChannels) else { return nil }
        return switch scope {
        case .nothing: []
        case .channels(let named): named
        case .everything, .undivided: nil
        }
    }

    /// The scope, or `undivided` for good if it names an id that is too long for a key.
    private mutating func storable(_ scope: EventScope) -> EventScope {
        switch scope {
        case .nothing, .undivided: return scope
        case .channels(let named), .everything(let named):
            if named.allSatisfy({ text($0).utf8.count <= ChannelIndex.idBytesMax }) { return scope }
            isDivided = false
            return .undivided
        }
    }

    /// The handle of an id's text; `nil` if the scan has not met it.
    func id(of text: String) -> EntityID? { state.context.names.find(text) }

    /// Ids that scopes named, in the order of a state document.
    func sorted(_ ids: [EntityID]) -> [EntityID] { ids.sorted { state.context.names.precedes($0, $1) } }

    /// The text of an id that a scope names, by its handle.
    func text(_ id: EntityID) -> String { state.context.names.text(id) }
}
