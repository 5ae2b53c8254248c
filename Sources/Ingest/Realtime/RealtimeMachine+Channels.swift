import JSON

#if Recorders
/// Channels: joining, the server's messages about them, gaps and pulls.
extension RealtimeMachine {
    /// Takes one message: the answer to a heartbeat, or one about a channel. A message of an earlier join of the
    /// channel is passed over.
    mutating func message(_ bytes: ArraySlice<UInt8>, at now: Duration) -> [Action] {
        // The driver records changes; they do not affect the machine.
        guard phase == .open, let frame = PhoenixFrame(bytes), !frame.isEvent("postgres_changes") else { return [] }
        // Heartbeats go to this topic of the socket itself.
        if frame.topic == "phoenix" {
            if frame.event == "phx_reply", frame.ref == pendingBeat.map(String.init) { pendingBeat = nil }
            return []
        }
        guard let index = tables.firstIndex(where: { $0.topic == frame.topic }),
            let joinRef = channels[index].joinRef, frame.joinRef == nil || frame.joinRef == String(joinRef)
        else { return [] }
        switch frame.event {
        case "phx_reply": return replied(index, frame, at: now)
        case "system": return system(index, frame.payloadValue, at: now)
        case "phx_error", "phx_close": return left(index, at: now)
        default: return []
        }
    }

    /// Does what is due on one channel.
    mutating func tick(_ index: Int, at now: Duration) -> [Action] {
        var actions: [Action] = []
        if channels[index].deadline.isDue(now) { actions += outOfTime(index, at: now) }
        if channels[index].pulls.next.isDue(now) { actions += pullDue(index, at: now) }
        return actions
    }

    /// Sends a join with a ref of its own, which is the `join_ref` of all frames of the channel from then on.
    mutating func join(_ index: Int, at now: Duration) -> Action {
        let ref = nextRef()
        channels[index].phase = .joining(ref)
        channels[index].deadline = now + RealtimeTiming.join
        let (table, token) = (tables[index], token)
        let frame = writer.frame(topic: table.topic, event: "phx_join", ref: ref, joinRef: ref) { writer in
            writer.begin("{")
            writer.name("config")
            Self.write(table, to: &writer)
            if !token.isEmpty {
                writer.name("access_token")
                writer.string(token)
            }
            writer.end("}")
        }
        return .send(frame)
    }

    /// Joins a channel whose pause is over, or gives up a join or subscription that took too long.
    private mutating func outOfTime(_ index: Int, at now: Duration) -> [Action] {
        guard let joinRef = channels[index].joinRef else { return [join(index, at: now)] }
        // The server may have joined the channel after all, so it is told to leave.
        let leave = writer.frame(
            topic: tables[index].topic,
            event: "phx_leave",
            ref: nextRef(),
            joinRef: joinRef,
            payload: Self.empty
        )
        return [.send(leave)] + left(index, at: now)
    }

    /// Handles the answer to a join. It does not mean that changes come in: a `system` message says that.
    private mutating func replied(_ index: Int, _ frame: PhoenixFrame, at now: Duration) -> [Action] {
        guard case .joining(let ref) = channels[index].phase, frame.ref == String(ref) else { return [] }
        let payload = frame.payloadValue
        guard payload?["status"]?.string == "ok", hasBinding(index, payload) else { return left(index, at: now) }
        channels[index].phase = .joined(ref)
        channels[index].deadline = now + RealtimeTiming.subscribe
        return []
    }

    /// True if the server bound the table. Some servers answer without a list; they are trusted. A list without the
    /// table means that no change would ever come.
    private func hasBinding(_ index: Int, _ payload: JSONValue?) -> Bool {
        guard let bindings = payload?["response"]?["postgres_changes"]?.array else { return true }
        let table = tables[index]
        return bindings.contains { $0["table"]?.string == table.name && $0["schema"]?.string == table.schema }
    }

    /// Handles a `system` message, by which the server tells how the subscription to changes goes.
    private mutating func system(_ index: Int, _ payload: JSONValue?, at now: Duration) -> [Action] {
        guard payload?["extension"]?.string == "postgres_changes" else {
            // The server closes a channel whose token expired; the next join needs a fresh one.
            return payload?["status"]?.string == "error" ? [.freshToken] : []
        }
        guard payload?["status"]?.string == "ok" else { return unsubscribed(index, at: now) }
        switch channels[index].phase {
        // The server has subscribed anew, perhaps later than where the old subscription ended.
        case .subscribed: return interrupted(index, .resubscribed, at: now)
        case .joined(let ref), .joining(let ref): return subscribed(index, ref, at: now)
        case .idle: return []
        }
    }

    /// Ends the table's gaps, because changes come in, and pulls the rows, which closes them.
    private mutating func subscribed(_ index: Int, _ ref: UInt64, at now: Duration) -> [Action] {
        channels[index].phase = .subscribed(ref)
        channels[index].deadline = nil
        channels[index].failures = 0
        return book.end(topic: tables[index].topic).map { .endGap($0) } + pull(index, at: now, after: .zero)
    }

    /// Opens a table's gap at the first failed attempt, if none goes on.
    mutating func missedBeforeConnecting(_ index: Int) -> [Action] {
        book.hasNone(goingOn: tables[index].topic) ? [openGap(index, .unreachable)] : []
    }

    /// Handles a subscription that the server lost; the server subscribes again by itself.
    private mutating func unsubscribed(_ index: Int, at now: Duration) -> [Action] {
        guard case .subscribed(let ref) = channels[index].phase else { return [] }
        channels[index].phase = .joined(ref)
        channels[index].deadline = now + RealtimeTiming.subscribe
        return [openGap(index, .unsubscribed)]
    }

    /// Handles the end of a channel: joins again after a pause, with a fresh token.
    private mutating func left(_ index: Int, at now: Duration) -> [Action] {
        let lost = channels[index].isSubscribed ? [openGap(index, .unsubscribed)] : []
        let steps = RealtimeTiming.rejoin
        channels[index].phase = .idle
        channels[index].deadline = now + steps[min(channels[index].failures, steps.count - 1)]
        channels[index].failures += 1
        return lost + [.freshToken]
    }

    /// Writes the configuration of a join as Supabase's clients do; only `postgres_changes` matters here.
    private static func write(_ table: RealtimeTable, to writer: inout JSONWriter) {
        writer.begin("{")
        writer.name("broadcast")
        writer.begin("{")
        writer.name("ack")
        writer.literal(false)
        writer.name("self")
        writer.literal(false)
        writer.end("}")
        writer.name("presence")
        writer.begin("{")
        writer.name("key")
        writer.string("")
        writer.end("}")
        writer.name("private")
        writer.literal(false)
        writer.name("postgres_changes")
        writer.begin("[")
        writer.begin("{")
        let members: [(StaticString, String?)] = [
            // Inserts, updates and deletions.
            ("event", "*"), ("schema", table.schema), ("table", table.name), ("filter", table.filter),
        ]
        for (name, value) in members {
            guard let value else { continue }
            writer.name(name)
            writer.string(value)
        }
        writer.end("}")
        writer.end("]")
        writer.end("}")
    }
}

// MARK: - Gaps and pulls

extension RealtimeMachine {
    /// Opens a gap of a table.
    mutating func openGap(_ index: Int, _ reason: GapReason) -> Action {
        .openGap(book.open(reason, topic: tables[index].topic))
    }

    /// Opens and ends a gap at once: something was missed, but changes already come in again.
    mutating func interrupted(_ index: Int, _ reason: GapReason, at now: Duration) -> [Action] {
        guard channels[index].isSubscribed else { return [] }
        let gap = book.open(reason, topic: tables[index].topic)
        book.end(gap)
        return [.openGap(gap), .endGap(gap)] + pull(index, at: now, after: RealtimeTiming.pullPause)
    }

    /// Begins to read a table's rows, or notes that this is due. If none can be read, closes the gaps that have ended.
    private mutating func pull(_ index: Int, at now: Duration, after pause: Duration) -> [Action] {
        let covered = endedGaps(index)
        guard pullsRows else { return book.close { covered.contains($0) }.map { .closeGap($0, by: .nothing) } }
        let canBegin = channels[index].isSubscribed
        let begins = channels[index].pulls.start(covering: covered, canBegin: canBegin, at: now, after: pause)
        return begins ? [.work(.pull(table: index))] : []
    }

    /// Begins the pull that is due, if there is one and the table is subscribed.
    private mutating func pullDue(_ index: Int, at now: Duration) -> [Action] {
        let (covered, canBegin) = (endedGaps(index), channels[index].isSubscribed)
        let begins = channels[index].pulls.startDue(covering: covered, canBegin: canBegin, at: now)
        return begins ? [.work(.pull(table: index))] : []
    }

    /// The table's gaps that have an end.
    private func endedGaps(_ index: Int) -> Set<SocketGap> {
        book.ended.filter { $0.topic == tables[index].topic }
    }

    /// Closes the gaps that the pull covers. One that failed is repeated after a pause; its gaps stay open.
    mutating func pulled(_ index: Int, isComplete: Bool, at now: Duration) -> [Action] {
        let pause = RealtimeTiming.pullPause
        guard channels.indices.contains(index),
            let covered = channels[index].pulls.finish(isComplete: isComplete, at: now, retryAfter: pause)
        else { return [] }
        let closed = book.close { covered.contains($0) }
        return closed.map { .closeGap($0, by: .snapshot) } + pullDue(index, at: now)
    }
}
#endif
