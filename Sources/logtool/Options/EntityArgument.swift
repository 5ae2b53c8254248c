import ArgumentParser
import EventLog
import Projections

/// Entities as arguments.
enum EntityArgument {
    /// Reads a reference, whose first parts may be missing. Whether anything fits is not tested.
    static func parse(_ text: String) throws -> EntityReference {
        if let reference = EntityReference(text) { return reference }
        let kinds = EntityReference.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("\"\(text)\" names nothing: write KIND:SOURCE/…/ID, where KIND is one of \(kinds)")
    }

    /// The one thing of a state that a reference names.
    ///
    /// A reference that fits several things still names one of them if it is written in full.
    ///
    /// - Throws: `Failure` with exit code 1 if nothing fits, naming the compaction if one dropped the thing; with exit
    ///   code 2 and the matches if several fit.
    static func only(
        _ reference: EntityReference,
        in state: LogState,
        of session: borrowing ReadSession
    ) throws -> EntityReference {
        var matches = state.find(reference)
        // Of channels, people see the names, and of sessions the projects.
        if matches.isEmpty, reference.kind == .channel { matches = state.channels(called: reference).map(\.reference) }
        if matches.isEmpty, reference.kind == .session { matches = state.sessions(of: reference) }
        // Not in the state: perhaps it never was, perhaps a compaction dropped it.
        guard let match = matches.first else {
            if let dropped = try dropped(reference, in: state, of: session) { throw failure(for: dropped) }
            throw Failure("find \"\(reference)\": nothing in the log fits", exitCode: Outcome.no)
        }
        if matches.count == 1 { return match }
        if matches.contains(reference) { return reference }
        let shown = matches.prefix(10).map(\.description).joined(separator: ", ")
        let more = matches.count > 10 ? " and \(matches.count - 10) more" : ""
        throw Failure("find \"\(reference)\": several things fit: \(shown)\(more)")
    }

    /// The one message that compactions dropped, if a reference names nothing else.
    ///
    /// - Throws: `Failure` with exit code 2 and the matches if several fit.
    static func dropped(
        _ reference: EntityReference,
        in state: LogState,
        of session: borrowing ReadSession
    ) throws -> DroppedMessage? {
        guard reference.kind == .message, state.find(reference).isEmpty else { return nil }
        let matches = try Compaction.dropped(reference, in: state, session)
        if matches.count <= 1 { return matches.first }
        if let whole = matches.first(where: { $0.entity == reference }) { return whole }
        let shown = matches.prefix(10).map(\.entity.description).joined(separator: ", ")
        let more = matches.count > 10 ? " and \(matches.count - 10) more" : ""
        throw Failure("find \"\(reference)\": several things fit, all dropped by compactions: \(shown)\(more)")
    }

    /// The error for a message that compactions dropped. It names the act where the log still tells which.
    static func failure(for dropped: DroppedMessage) -> Failure {
        let act = dropped.act.map {
            "the compaction of \(TimeText.full($0.recordedAt)), event \($0.sequence), dropped it"
        }
        return Failure(
            "find \"\(dropped.entity)\": \(act ?? "one of the compactions dropped it"); "
                + "read the log with its archives (--with-archive), or a copy from before",
            exitCode: Outcome.no
        )
    }
}

/// Channels as options. They are written as entities, with or without `channel:`. Only that prefix decides, because an
/// id may contain colons.
enum ChannelArgument {
    static func parse(_ text: String) throws -> EntityReference {
        let isNamed = text.hasPrefix("channel:")
        guard let reference = EntityReference(isNamed ? text : "channel:" + text) else {
            throw ValidationError("\"\(text)\" names no channel: write SOURCE/ID")
        }
        return reference
    }

    /// The one channel of a state, live or gone, that an option means: by its id or, if it is no id, by the name that
    /// `replay` prints.
    ///
    /// - Throws: `Failure` with exit code 1 that lists the channels if none fits; with exit code 2 and the matches if
    ///   several fit.
    static func only(
        _ reference: EntityReference,
        of source: SourceName? = nil,
        in state: LogState
    ) throws -> EntityReference {
        let matches = state.channels(called: reference, of: source)
        if matches.count == 1 { return matches[0].reference }
        if matches.contains(where: { $0.reference == reference }) { return reference }
        let wanted = reference.parts.joined(separator: "/")
        guard matches.isEmpty else {
            let shown = matches.prefix(10).map(text).joined(separator: ", ")
            let more = matches.count > 10 ? " and \(matches.count - 10) more" : ""
            throw Failure("find channel \"\(wanted)\": several channels fit: \(shown)\(more)")
        }
        let known = state.knownChannels(of: source)
        let words = known.flatMap { [$0.name, $0.reference.parts.last].compactMap { $0 } }
        throw KnownNames.failure(
            "channel",
            wanted,
            known.map(text),
            words: Set(words).sorted(),
            ifNone: "it has no channels"
        )
    }

    /// `general (guild/10)`: the name and what tells it from others; `vibe/general` where both are the same.
    private static func text(of channel: LogState.KnownChannel) -> String {
        let place = channel.reference.description.dropFirst("channel:".count)
        guard let name = channel.name, name != channel.reference.parts.last else { return String(place) }
        return "\(name) (\(place))"
    }
}
