import EventLog

/// One event as a rule of a decoder file turns it into changes.
///
/// It refers to the decoder, the changes and the context that it was made with, and is not to be used once they are no more:
/// copies, or values lent by exchange, took a twentieth of a replay.
struct DecoderRun {
    private let lentDecoder: UnsafeMutablePointer<FileDecoder>
    private let lentChanges: UnsafeMutablePointer<[Change]>
    private let lentContext: UnsafeMutablePointer<FoldContext>
    /// The things of sets that this event has stated.
    private var stated: [DecoderSets.Name: Set<DecoderSets.Member>] = [:]
    /// The sets that this event states as a whole, in the order of the rule's steps.
    private var snapshots: [DecoderSets.Name] = []
    /// The same, to find one.
    private var known: Set<DecoderSets.Name> = []
    /// The last thing that this event has put in front of the one that a token of a channel stands for.
    var foremost: [MessageKey: EntityID] = [:]
    /// The messages of this event by `make` whose reactions were stated.
    var made: Set<MessageKey> = []
    /// How many issues were left out.
    private var silentCount = 0
    /// The most issues of one event: a bad list would otherwise have one for each element.
    private static let issuesMax = 16

    var decoder: FileDecoder {
        @inline(__always) unsafeAddress { UnsafePointer(lentDecoder) }
        @inline(__always) nonmutating unsafeMutableAddress { lentDecoder }
    }

    var changes: [Change] {
        @inline(__always) unsafeAddress { UnsafePointer(lentChanges) }
        @inline(__always) nonmutating unsafeMutableAddress { lentChanges }
    }

    var context: FoldContext {
        @inline(__always) unsafeAddress { UnsafePointer(lentContext) }
        @inline(__always) nonmutating unsafeMutableAddress { lentContext }
    }

    private init(
        _ decoder: UnsafeMutablePointer<FileDecoder>,
        _ changes: UnsafeMutablePointer<[Change]>,
        _ context: UnsafeMutablePointer<FoldContext>
    ) {
        (lentDecoder, lentChanges, lentContext) = (decoder, changes, context)
    }

    /// Carries out a rule for an event.
    static func carryOut(
        _ rule: DecoderStep,
        _ scope: inout DecoderScope,
        _ decoder: inout FileDecoder,
        _ changes: inout [Change],
        _ context: inout FoldContext
    ) {
        carryOut(&decoder, &changes, &context) { $0.carryOut(rule, &scope, isRule: true) }
    }

    /// Has a registered decoder read an event.
    static func carryOut(
        _ reader: any EventDecoder,
        _ event: ReceivedEvent,
        _ decoder: inout FileDecoder,
        _ changes: inout [Change],
        _ context: inout FoldContext
    ) {
        carryOut(&decoder, &changes, &context) { run in
            var builder = ChangeBuilder(run: run)
            reader.decode(event, into: &builder)
            run = builder.run
        }
    }

    @inline(__always)
    private static func carryOut(
        _ decoder: inout FileDecoder,
        _ changes: inout [Change],
        _ context: inout FoldContext,
        _ work: (inout DecoderRun) -> Void
    ) {
        withUnsafeMutablePointer(to: &decoder) { decoder in
            withUnsafeMutablePointer(to: &changes) { changes in
                withUnsafeMutablePointer(to: &context) { context in
                    var run = DecoderRun(decoder, changes, context)
                    work(&run)
                    run.finish()
                }
            }
        }
    }

    // MARK: - Steps

    /// Carries out a step for each element of its lists that fits, or once. The tests of a rule have chosen the event, so
    /// they are not asked again.
    private mutating func carryOut(_ step: DecoderStep, _ scope: inout DecoderScope, isRule: Bool) {
        if step.each.isEmpty { return carryOutOnce(step, &scope, isRule: isRule) }
        for place in step.each {
            guard case .view(let list)? = scope.value(.place(place)) else { continue }
            for element in list.elements ?? [] {
                scope.entering(.view(element), isLoop: true) { carryOutOnce(step, &$0, isRule: isRule) }
            }
            for member in list.members ?? [] {
                scope.entering(.view(member.value), key: member.name, isLoop: true) {
                    carryOutOnce(step, &$0, isRule: isRule)
                }
            }
        }
    }

    private mutating func carryOutOnce(_ step: DecoderStep, _ scope: inout DecoderScope, isRule: Bool) {
        Steps.count(1)
        // What a step names is for it and its own steps.
        let named = scope.named
        guard isRule || scope.fits(step.when) else { return }
        defer { if !isRule { scope.named = named } }
        if let once = step.once, let value = scope.value(once)?.writtenText, decoder.hasSeen(once: value, context) {
            return
        }
        if !step.steps.isEmpty { return carryOutSteps(of: step, &scope) }
        for (name, value) in step.kept { keep(value, as: name, &scope, step) }
        guard let effect = step.effect else { return }
        guard let from = step.from else { return apply(effect, scope, isEntered: false, step.line) }
        guard let value = scope.value(from), !value.isNull else {
            return issue("there is no value at from", step.line)
        }
        scope.entering(value, isLoop: false) { apply(effect, $0, isEntered: true, step.line) }
    }

    /// Carries out the steps of a step, on the value of `from` if it has one.
    private mutating func carryOutSteps(of step: DecoderStep, _ scope: inout DecoderScope) {
        guard let from = step.from else {
            for inner in step.steps { carryOut(inner, &scope, isRule: false) }
            return
        }
        guard let value = scope.value(from), !value.isNull else {
            return issue("there is no value at from", step.line)
        }
        scope.entering(value, isLoop: false) { scope in
            for inner in step.steps { carryOut(inner, &scope, isRule: false) }
        }
    }

    /// Keeps a value for the connection, or for what the step names. One that is missing changes nothing, null forgets what was
    /// kept.
    private mutating func keep(_ value: DecoderValue, as name: String, _ scope: inout DecoderScope, _ step: DecoderStep)
    {
        guard let found = scope.value(value) else { return }
        let text = found.writtenText
        guard text != nil || found.isNull, text?.utf8.count ?? 0 <= DecoderKept.textBytesMax else {
            return issue("\(name) is no text of at most \(DecoderKept.textBytesMax) bytes", step.line)
        }
        guard let owner = scope.owner(step.keptOf) else { return issue("there is no value at of", step.line) }
        scope.keep(text, as: name, of: owner, at: context.event.sequence.rawValue)
    }

    /// - Parameter line: The line of the file; `nil` of a registered decoder.
    mutating func issue(_ reason: String, _ line: Int?) {
        guard context.reasons.count < Self.issuesMax else { return silentCount += 1 }
        context.issue("decoder \(decoder.name)\(line.map { ", line \($0)" } ?? ""): \(reason)")
    }

    // MARK: - Effects

    /// - Parameters:
    ///   - scope: where the members of the shape are.
    ///   - isEntered: whether the ids of `at` and the members of `with` are one level further out.
    mutating func apply(_ effect: DecoderEffect, _ scope: DecoderScope, isEntered: Bool, _ line: Int?) {
        let reader = EffectReader(effect: effect, inner: scope, isEntered: isEntered)
        if effect.operation == .snapshot {
            if let name = setName(reader), known.insert(name).inserted { snapshots.append(name) }
            return
        }
        scope.begin(effect, line)
        let isDeletion = effect.operation == .delete || effect.operation == .retract
        if isDeletion, context.rules.contains(.deletionsAreIgnored) { return }
        switch effect.subject {
        case .message: message(reader, line)
        case .channel: channel(reader, line)
        case .user: user(reader, line)
        case .reaction: reaction(reader, line)
        case .event: retract(reader, line)
        case .item: item(reader, line)
        case .session: session(reader, line)
        case .place: place(reader, line)
        case .row: row(reader, line)
        case .typing:
            guard let channel = id(.channel, reader, line), let user = id(.user, reader, line) else { return }
            let change = reader.effect.operation == .delete ? TypingChange.ends : .begins
            changes.append(.community(.typing(channel: channel, user: user, change)))
        case .presence:
            guard let user = id(.user, reader, line) else { return }
            guard let status = reader.text(.status).known else { return issue("the presence has no status", line) }
            changes.append(.community(.presence(user: user, status: status)))
        }
    }

    private func setName(_ reader: EffectReader) -> DecoderSets.Name? {
        guard let set = reader.effect.set else { return nil }
        let scopeText = set.scope.map { reader.outer.value($0)?.writtenText ?? "" } ?? ""
        return DecoderSets.Name(name: ExactText(set.name), scope: ExactText(scopeText))
    }

    /// The handle of an id; `nil`, with an issue, if it is no text or number.
    mutating func id(_ name: DecoderName, _ reader: EffectReader, _ line: Int?) -> EntityID? {
        guard let id = reader.found(name)?.id(&context.names) else {
            issue("the \(reader.effect.subject.rawValue) has no \(name)", line)
            return nil
        }
        return id
    }

    /// Notes that a thing of a set was stated, or is gone.
    mutating func note(_ reader: EffectReader, _ first: EntityID, _ second: EntityID) {
        guard let name = setName(reader) else { return }
        let effect = reader.effect
        let member = DecoderSets.Member(subject: effect.subject.number, first: first, second: second)
        if effect.operation == .delete {
            decoder.sets.remove(member, from: name, at: context.event.sequence.rawValue)
        } else {
            decoder.sets.state(member, in: name, at: context.event.sequence.rawValue)
            stated[name, default: []].insert(member)
        }
    }

    /// Notes that an event names a thing that it does not state: if the set holds it, a snapshot does not leave it out.
    mutating func stay(_ reader: EffectReader, _ first: EntityID, _ second: EntityID) {
        guard let name = setName(reader) else { return }
        let member = DecoderSets.Member(subject: reader.effect.subject.number, first: first, second: second)
        if decoder.sets.holds(member, in: name) { stated[name, default: []].insert(member) }
    }

    // MARK: - Snapshots

    /// Removes what the sets held that this event states as a whole, and did not state.
    private mutating func finish() {
        if silentCount > 0, context.reasons.count <= Self.issuesMax {
            context.issue("decoder \(decoder.name): \(silentCount) more issues of the event are left out")
        }
        for name in snapshots where !context.rules.contains(.snapshotRemovesNothing) {
            let here = stated[name] ?? []
            let members = decoder.sets.members(of: name)
            Steps.count(members.count)
            let gone = members.filter { !here.contains($0) }.sorted { left, right in
                left.first == right.first
                    ? context.names.precedes(left.second, right.second)
                    : context.names.precedes(left.first, right.first)
            }
            for member in gone {
                decoder.sets.leaveOut(member, of: name, at: context.event.sequence.rawValue)
                changes.append(contentsOf: removal(of: member))
            }
        }
    }

    private mutating func removal(of member: DecoderSets.Member) -> [Change] {
        switch DecoderEffect.Subject(number: member.subject) {
        case .message?:
            let key = MessageKey(channel: member.first, id: member.second)
            let deletion = MessageDeletion(key: key, cause: .leftOut, permanence: .untilWritten, isOfChannel: true)
            return [.message(.deleted(deletion))]
        case .channel?:
            return [.channel(.deleted(member.first, cause: .leftOut, permanence: .untilWritten))]
        case .user?: return [.community(.memberRemoved(guild: member.first, user: member.second))]
        case .item?:
            guard let item = decoder.items[member.first], !item.isGone, !item.isAbsent else { return [] }
            decoder.items[member.first]?.isAbsent = true
            decoder.items[member.first]?.sequence = context.event.sequence.rawValue
            return [.item(.removed(list: item.list, id: member.first))]
        case .row?:
            decoder.rowCount += 1
            return [
                .row(
                    rowChange(MessageKey(channel: member.first, id: member.second), .delete, RowRecord(), version: nil)
                )
            ]
        case .session?, .reaction?, .typing?, .presence?, .event?, .place?, nil: return []
        }
    }
}
