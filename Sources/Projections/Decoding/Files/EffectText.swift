import EventLog
import JSON

/// An effect whose ids and members are given as they are, instead of as places in a payload.
struct EffectText {
    let operation: DecoderEffect.Operation
    let subject: DecoderEffect.Subject
    var ids: [String: DecoderValue] = [:]
    private var members: [String: DecoderValue] = [:]
    /// The members that are no texts, of which `members` has the places.
    private var values = JSONObject()
    var own: String?
    var changes: Set<DecoderName>?
    var needs: [DecoderName] = []
    var set: ChangeBuilder.ThingSet?
    var reactions: [MessageStatement.Reaction]?
    /// The columns of a row.
    var columns: JSONObject?
    var isForEver = false

    private static let (reactionsName, columnsName) = ("reactions", "columns")

    init(_ operation: DecoderEffect.Operation, _ subject: DecoderEffect.Subject) {
        (self.operation, self.subject) = (operation, subject)
    }

    /// States a member; `nil` leaves it untold.
    mutating func state(_ name: String, _ text: String?) {
        if let text { members[name] = .text(text) }
    }

    /// States a member that is a time.
    mutating func state(_ name: String, _ time: Timestamp?) {
        guard let time else { return }
        if time.seconds < 0 {
            members[name] = .time(.text(time.description), .rfc3339)
        } else {
            let fraction = String(1_000_000_000 + UInt64(time.nanoseconds)).dropFirst()
            members[name] = .time(.text("\(time.seconds).\(fraction)"), .secondsText)
        }
    }

    /// States a member that is any value; `null` says that there is none.
    mutating func state(_ name: String, json value: JSONValue) {
        values[name] = value
        members[name] = .place(Self.place(name))
    }

    private static func place(_ name: String) -> DecoderPlace { DecoderPlace(start: .here, steps: [name]) }

    /// Carries the effect out as a decoder file's.
    func apply(to run: inout DecoderRun) {
        var values = values
        if let reactions {
            values[Self.reactionsName] = .array(
                reactions.map {
                    .object(["emoji": .string($0.emoji), "users": .array($0.users.map { .string($0) })])
                }
            )
        }
        if let columns { values[Self.columnsName] = .object(columns) }
        let effect = DecoderEffect(
            operation: operation,
            subject: subject,
            ids: DecoderValues(ids),
            own: own.map { .text($0) },
            members: DecoderValues(members),
            outerMembers: .none,
            changes: changes,
            needs: needs,
            set: set.map { (name: $0.name, scope: $0.scope.isEmpty ? nil : DecoderValue.text($0.scope)) },
            reactions: reactions == nil
                ? nil
                : DecoderReactions(
                    each: Self.place(Self.reactionsName),
                    emoji: .place(Self.place("emoji")),
                    users: .place(Self.place("users"))
                ),
            columns: columns == nil ? nil : .place(Self.place(Self.columnsName)),
            isForEver: isForEver
        )
        guard let document = try? JSONDocument(.object(values)) else {
            return run.issue("a value is nested too deeply, or a number has no digits", nil)
        }
        let scope = DecoderScope(document, [:], isLink: false, DecoderAbsences())
        run.apply(effect, scope, isEntered: false, nil)
    }
}
