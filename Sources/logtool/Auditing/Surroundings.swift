import EventLog
import Projections

/// The events of the channels and guilds that things are in: where one of these ends, so does what is in it.
final class Surroundings {
    /// The state at the log's head; `nil` until it is needed.
    private var state: LogState?
    /// The histories looked up so far: their events, and the guild of a channel.
    private var known: [EntityReference: (events: [SequenceNumber], guild: EntityReference?)] = [:]

    init(in state: LogState?) {
        self.state = state
    }

    /// The last events of a thing's channel and of its guild before another event, at most `EntryProof.surroundingsMax` of
    /// each. Cost: a replay if no state was given, once; the first time for a channel or guild, a search among all of them.
    func events(
        of thing: EntityReference,
        before sequence: SequenceNumber,
        in session: borrowing ReadSession
    ) throws -> [SequenceNumber] {
        if state == nil { state = try Replay.logState(of: session) }
        let channel = thing.channel.map(history)
        let guild = channel.map(\.guild) ?? thing.guild
        let histories = [channel?.events, guild.map { history(of: $0).events }]
        return histories.flatMap { ($0 ?? []).filter { $0 < sequence }.suffix(EntryProof.surroundingsMax) }
    }

    /// The events that kept what a decoder file reads in some events, at most `EntryProof.keptMax`, newest last. Cost: a replay if no
    /// state was given, once.
    func keptEvents(readBy sequences: [SequenceNumber], in session: borrowing ReadSession) throws -> [SequenceNumber] {
        if state == nil { state = try Replay.logState(of: session) }
        var kept: Set<SequenceNumber> = []
        for sequence in sequences {
            guard let event = try session.event(at: sequence) else { continue }
            kept.formUnion(state?.keptEvents(readBy: event) ?? [])
        }
        return kept.sorted().suffix(EntryProof.keptMax)
    }

    private func history(of place: EntityReference) -> (events: [SequenceNumber], guild: EntityReference?) {
        if let found = known[place] { return found }
        let entries = (try? state?.history(of: place)) ?? []
        let guild = entries.lazy.compactMap { $0.fields["guild"]?.string }.last
        let found = (
            events: entries.map(\.sequence),
            guild: guild.map { EntityReference(kind: .guild, parts: [place.parts[0], $0]) }
        )
        known[place] = found
        return found
    }
}

extension EntityReference {
    /// The guild that a thing is in by its name; `nil` for other things.
    fileprivate var guild: EntityReference? {
        switch kind {
        case .member, .role, .ban, .voice: EntityReference(kind: .guild, parts: Array(parts.prefix(2)))
        default: nil
        }
    }
}
