import Clients
import EventLog
import Projections

/// What two logs have in common if one is the other with other words, ids and times: counts, order, threads, gaps, and
/// what the clients read otherwise.
///
/// No name is in it: sources are counted in the order of their first events, channels and gaps by what they hold.
struct LogShape: Equatable, Sendable {
    /// One event: the source, the kind, the names of its attributes, whether it has a key, and when it came after the first.
    struct EventShape: Hashable, Sendable {
        let source: Int
        let kind: EventKind
        let attributes: [String]
        /// The first event of the source with the key; `nil` without a key.
        let key: Int?
        let microseconds: Int64
    }

    /// One gap of a source.
    struct GapShape: Hashable, Sendable {
        let source: Int
        let reason: String
        let hasTopic: Bool
        /// Since the log's first event.
        let from: Int64
        let to: Int64?
    }

    let events: [EventShape]
    /// How many rows each source has in each part of the state, by `SOURCE PART`.
    let rows: [String: Int]
    /// The threads of each channel, sorted: for each message in order how many revisions it has and what it answers.
    let threads: [String]
    let gaps: [GapShape: Int]
    /// How many things of each kind a client reads otherwise, by `PROFILE KIND`.
    let profiles: [String: Int]

    /// How many channels have messages.
    var channelCount: Int { threads.count }
    var sourceCount: Int { (events.map(\.source).max() ?? -1) + 1 }

    /// Folds the events once for all profiles that read them by the same rules. Memory: two states at a time.
    ///
    /// - Parameter decoders: The decoder files of the sources.
    init(of events: [CandidateEvent], decoders: Decoders) {
        let drafts = events.map(\.draft)
        var order: [String: Int] = [:]
        for draft in drafts where order[draft.source.rawValue] == nil { order[draft.source.rawValue] = order.count }
        let first = drafts.first?.recordedAt.microseconds ?? 0
        self.events = Self.events(of: drafts, order, since: first)
        var canonical = LogState()
        canonical.use(decoders)
        canonical.apply(drafts)
        let document = canonical.document()
        var rows: [String: Int] = [:]
        for section in Section.allCases {
            for row in document[section.rawValue]?.array ?? [] {
                rows["\(order[row["source"]?.string ?? ""] ?? -1) \(section.rawValue)", default: 0] += 1
            }
        }
        self.rows = rows
        threads = Self.threads(of: document["messages"]?.array ?? [], order)
        gaps = Dictionary(
            canonical.gaps.map { source, gap in
                let shape = GapShape(
                    source: order[source.rawValue] ?? -1,
                    reason: gap.reason,
                    hasTopic: gap.topic != nil,
                    from: gap.from.microseconds - first,
                    to: gap.to.map { $0.microseconds - first }
                )
                return (shape, 1)
            },
            uniquingKeysWith: +
        )
        let counts = Profile.differences(among: Set(drafts.map(\.kind))) { profile, _ in
            var state = LogState(rules: profile.rules)
            state.use(decoders)
            state.apply(drafts)
            return StateDiff.counts(canonical, state)
        }
        var profiles: [String: Int] = [:]
        for (profile, kinds) in counts {
            for (kind, count) in kinds { profiles["\(profile.rawValue) \(kind.rawValue)"] = count }
        }
        self.profiles = profiles
    }

    private static func events(of drafts: [DraftEvent], _ order: [String: Int], since first: Int64) -> [EventShape] {
        var keys: [String: Int] = [:]
        return drafts.enumerated().map { place, draft in
            let source = order[draft.source.rawValue] ?? -1
            let key = draft.key.map { key in
                let name = "\(source) \(key.rawValue)"
                keys[name] = keys[name] ?? place
                return keys[name] ?? place
            }
            return EventShape(
                source: source,
                kind: draft.kind,
                attributes: draft.attributes.pairs.map(\.name),
                key: key,
                microseconds: draft.recordedAt.microseconds - first
            )
        }
    }

    /// The messages of a document come channel by channel, in order. A parent is told by how far before its answer it
    /// stands, or by its state where it is not live there.
    private static func threads(of messages: [JSONValue], _ order: [String: Int]) -> [String] {
        var channels: [[String]: [JSONValue]] = [:]
        for message in messages {
            channels[[message["source"]?.string ?? "", message["channel"]?.string ?? ""], default: []].append(message)
        }
        return channels.map { name, messages in
            let places = Dictionary(
                messages.enumerated().map { ($1["id"]?.string ?? "", $0) },
                uniquingKeysWith: { first, _ in first }
            )
            let shapes = messages.enumerated().map { place, message in
                let parent = message["replyTo"].map { reply in
                    places[reply["id"]?.string ?? ""].map { "^\(place - $0)" } ?? reply["state"]?.string ?? "?"
                }
                return "\(message["revisions"]?.number?.text ?? "0")\(parent ?? "")"
            }
            return "\(order[name[0]] ?? -1): " + shapes.joined(separator: " ")
        }.sorted()
    }

    /// In which respects another shape differs, in words; empty if it is the same.
    func differences(from other: LogShape) -> [String] {
        [
            events == other.events ? nil : "events", rows == other.rows ? nil : "counts",
            threads == other.threads ? nil : "threads", gaps == other.gaps ? nil : "gaps",
            profiles == other.profiles ? nil : "profiles",
        ].compactMap { $0 }
    }
}
