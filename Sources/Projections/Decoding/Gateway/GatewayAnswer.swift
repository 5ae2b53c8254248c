import EventLog
import JSON

/// One answer of a gateway's REST routes: `gateway.rest/1`, attributes `path` and `status`.
///
/// Its objects add and update as frames do. A thing missing from a complete set is gone; a message missing from a page
/// is not. A list of members or bans is a complete set only if it fits one page: the pages of a longer list arrive one
/// after another. Answers with a status other than 2xx, and routes that concern no state, change nothing.
///
/// A value of one call: it reads the payload at once and keeps no memory. It does not see the state, so
/// `SourceState.readAnswer` decides which known things a complete set removes.
///
/// Source of the routes and bodies: the upstream server's `internal/api`.
struct GatewayAnswer {
    /// A complete set: everything known whose id it lacks is gone. Members, bans and voices list the ids of users.
    enum WholeSet {
        case guilds([EntityID])
        case channels(guild: EntityID, Set<EntityID>)
        case directChannels(Set<EntityID>)
        case roles(guild: EntityID, Set<EntityID>)
        case members(guild: EntityID, Set<EntityID>)
        case bans(guild: EntityID, Set<EntityID>)
        case voices(channel: EntityID, Set<EntityID>)
    }

    /// Which request a list of messages answers.
    enum Page {
        /// The newest messages of a channel.
        case first(EntityID)
        /// The messages of a channel before, after or around another.
        case older(EntityID)
        /// The results of a search.
        case found
    }

    /// The page, if the answer is a list of messages.
    private(set) var page: Page?
    /// The messages of the answer, in its order.
    var writes: [MessageWrite] {
        changes.compactMap { if case .message(.written(let write)) = $0 { write } else { nil } }
    }

    /// In the order of the answer's elements.
    private(set) var changes: [Change] = []
    /// At most one: the answer's list, if it was read whole and without a fault.
    private(set) var wholeSets: [WholeSet] = []
    /// Whether every element so far was readable. A set with a fault proves no absence.
    private var isReadable = true

    init(_ envelope: Envelope, payload: UnsafeRawBufferPointer, context: inout FoldContext) {
        read(envelope, payload: payload, context: &context)
    }
}

extension GatewayAnswer {
    private mutating func read(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        context: inout FoldContext
    ) {
        guard let path = envelope.attributes["path"] else { return context.issue("answer: path is missing") }
        // An answer without a status counts as good.
        guard envelope.attributes["status"].map({ $0.utf8.count == 3 && $0.utf8.first == UInt8(ascii: "2") }) ?? true,
            let route = GatewayRoute(path)
        else { return }
        guard let value = try? ValueView(payload) else { return context.issue("answer: not one JSON text") }
        // Some routes wrap their body in `data`.
        let body = value.members?["data"] ?? value
        if let elements = body.elements {
            // The path's id as a value of an element.
            let place = route.place.map { StoredJSON(.string($0)) }
            guard let place else { return read(elements, of: route, place: nil, context: &context) }
            place.withBytes { text in
                read(elements, of: route, place: ValueView(kind: .string, bytes: text), context: &context)
            }
        } else if let object = body.members {
            read(object, of: route, context: &context)
        } else {
            context.issue("answer: neither an array nor an object")
        }
    }

    /// Reads an answer that is one object: a guild, a channel or a message.
    private mutating func read(_ object: ObjectView, of route: GatewayRoute, context: inout FoldContext) {
        attempt("answer", context: &context) { answer, names throws(GatewayFault) in
            let members = GatewayMembers(object, path: "")
            switch route.subject {
            case .guild: answer.changes.append(try members.guild(names: &names))
            case .channel: answer.changes += try members.channel(names: &names)
            case .message: answer.changes.append(.message(.written(try members.message(names: &names))))
            default: throw GatewayFault("an object where a list is expected")
            }
        }
    }

    /// Reads an answer that is a list. A fault in one element becomes an issue, the other elements count, and the list
    /// is no complete set.
    private mutating func read(
        _ elements: [ValueView],
        of route: GatewayRoute,
        place: ValueView?,
        context: inout FoldContext
    ) {
        var ids: [EntityID] = []
        for (index, element) in elements.enumerated() {
            attempt("answer: element \(index + 1)", context: &context) { answer, names throws(GatewayFault) in
                ids.append(try answer.read(element, of: route, place: place, names: &names))
            }
        }
        // A guild's id, or a channel's for the routes below `channels`.
        let guild = route.place.map { context.names.id($0) } ?? .none
        switch route.subject {
        case .guilds where isReadable: wholeSets.append(.guilds(ids))
        case .readStates: readStates(elements, context: &context)
        case .guildChannels where isReadable: wholeSets.append(.channels(guild: guild, Set(ids)))
        case .directChannels where isReadable: wholeSets.append(.directChannels(Set(ids)))
        case .roles where isReadable: wholeSets.append(.roles(guild: guild, Set(ids)))
        // The defaults are the server's page sizes for requests without `limit`.
        case .members where isReadable && route.isOnePage(elements.count, default: 50):
            wholeSets.append(.members(guild: guild, Set(ids)))
        case .bans where isReadable && route.isOnePage(elements.count, default: 1000):
            wholeSets.append(.bans(guild: guild, Set(ids)))
        case .voices where isReadable: wholeSets.append(.voices(channel: guild, Set(ids)))
        case .messages where route.isSearch: page = .found
        case .messages: page = route.hasCursor ? .older(guild) : .first(guild)
        default: break
        }
    }

    /// Reads one element of a list and returns its id in a complete set.
    private mutating func read(
        _ element: ValueView,
        of route: GatewayRoute,
        place: ValueView?,
        names: inout Names
    ) throws(GatewayFault) -> EntityID {
        // The elements are ids of users. Faults name a member, hence the object around the element.
        if case .reactions(let message, let emoji) = route.subject {
            let wrapped = GatewayMembers(
                .empty,
                path: "",
                implied: [GatewayMembers.Implied(name: "user", value: element)]
            )
            let user = try wrapped.id("user", names: &names)
            let key = MessageKey(channel: names.id(route.place ?? ""), id: names.id(message))
            changes.append(.message(.reaction(key, emoji: emoji, user: user, present: true)))
            return user
        }
        guard let object = element.members else { throw GatewayFault("it is no object") }
        return try read(route.completed(object, place: place), of: route, names: &names)
    }

    /// Reads one object of a list and returns its id in a complete set: a user's id for members, bans and voice states,
    /// a channel's for read states, else the object's own.
    private mutating func read(
        _ members: GatewayMembers,
        of route: GatewayRoute,
        names: inout Names
    ) throws(GatewayFault) -> EntityID {
        switch route.subject {
        case .guilds:
            changes.append(try members.guild(names: &names))
        case .guildChannels, .directChannels:
            changes += try members.channel(names: &names)
        case .roles:
            changes.append(try members.role(in: names.id(route.place ?? ""), names: &names))
        case .members:
            changes.append(try members.member(names: &names))
            return try members.id("user_id", names: &names)
        case .bans:
            changes.append(try members.ban(isPresent: true, names: &names))
            return try members.id("user_id", names: &names)
        case .messages:
            changes.append(.message(.written(try members.message(names: &names))))
        case .voices:
            let user = try members.id("user_id", names: &names)
            let place = (guild: try members.id("guild_id", names: &names), channel: names.id(route.place ?? ""))
            changes.append(.channel(.named(place.channel, guild: place.guild)))
            changes.append(.community(.voice(guild: place.guild, user: user, channel: place.channel)))
            return user
        case .readStates:
            // Checked here and read in `readStates`, since all read states are one change.
            return try members.id("channel_id", names: &names)
        case .guild, .channel, .message, .reactions:
            throw GatewayFault("a list where an object is expected")
        }
        return try members.id("id", names: &names)
    }

    /// Reads the answer's read states as one change. Elements without a channel were reported before and are left out;
    /// any other fault drops the whole change.
    private mutating func readStates(_ elements: [ValueView], context: inout FoldContext) {
        attempt("answer", context: &context) { answer, names throws(GatewayFault) in
            var states: [(channel: EntityID, lastMessage: EntityID?)] = []
            for element in elements {
                guard let object = element.members else { continue }
                let members = GatewayMembers(object, path: "")
                guard members.optionalValue("channel_id") != nil else { continue }
                let channel = try members.id("channel_id", names: &names)
                states.append((channel, try members.optionalID("last_message_id", names: &names)))
                answer.changes.append(.channel(.named(channel, guild: nil)))
            }
            answer.changes.append(.community(.readStates(states)))
        }
    }

    /// Reads one part. A fault becomes an issue and drops this part's changes only (I11).
    ///
    /// - Parameter place: the part's name at the beginning of the issue.
    private mutating func attempt(
        _ place: String,
        context: inout FoldContext,
        _ body: (inout GatewayAnswer, inout Names) throws(GatewayFault) -> Void
    ) {
        let count = changes.count
        do throws(GatewayFault) {
            try body(&self, &context.names)
        } catch {
            assert(changes.count >= count, "a part only adds changes")
            changes.removeSubrange(count...)
            isReadable = false
            context.issue("\(place): \(error.reason)")
        }
    }
}
