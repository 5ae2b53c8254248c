import EventLog

@testable import Projections

extension Messages {
    /// Everything that each message remembers, as text made of its record, sorted by channel and id.
    func messageLines(_ names: Names) -> [String] {
        let places = (0..<store.count).sorted { store.key(at: $0).precedes(store.key(at: $1), names) }
        return places.map { place in
            let isOfServer = store.channels[Int(store.cells[place].channel)].isOfServer
            let kept = store.sortedReactions(at: place, names).filter { $0.isPresent || isOfServer }
            let reactions = kept.map { reaction in
                JSONValue.array([
                    .string(store.reactions.emojis.text(reaction.emoji)), .string(names.text(reaction.user)),
                    .bool(reaction.isPresent), .string(String(reaction.sequence)),
                ])
            }
            let record = store.record(at: place).normalForm(names: names)
            return JSONValue.array([record, .array(reactions)]).canonicalText
        }
    }
}

extension MessageRecord {
    func normalForm(names: Names) -> JSONValue {
        var members = key.members(names)
        members["standing"] = standing.normalForm
        members["current"] = current?.normalForm(names: names)
        members["entries"] = .array(entries.map { $0.normalForm(names: names) })
        members["placedBy"] = placedBy.map { .string(String($0)) }
        members["relatives"] = .array(relatives.sorted { $0.precedes($1, names) }.map { .object($0.members(names)) })
        return .object(members)
    }
}

extension MessageRecord.Standing {
    fileprivate var normalForm: JSONValue {
        switch self {
        case .nowhere: .string("nowhere")
        case .live: .string("live")
        case .deleted(let end): end.normalForm
        }
    }
}

extension MessageRecord.End {
    fileprivate var normalForm: JSONValue {
        .object([
            "cause": .string(cause.rawValue),
            "forever": .bool(permanence == .forever),
            "at": deletedAt?.normalForm,
            "by": .text(deletedBy),
            "since": since.normalForm,
        ])
    }
}

extension MessageRecord.Entry {
    fileprivate func normalForm(names: Names) -> JSONValue {
        var members: JSONObject = ["event": event.normalForm, "change": .string(happening.word)]
        members["revision"] = revision?.normalForm(names: names)
        members["new"] = .bool(isNewRevision)
        members["replaced"] = isReplaced ? .bool(true) : nil
        members["arrival"] = arrival == .inTime ? nil : .int(arrival.rawValue)
        members["time"] = remoteTime?.normalForm
        members["by"] = .text(by)
        switch happening {
        case .deleted(let end): members["end"] = end.normalForm
        case .moved(let from, let to):
            members["from"] = .object(from.members(names))
            members["to"] = .object(to.members(names))
        case .unselected(let end): members["end"] = end?.normalForm
        case .created, .edited, .linked, .restored, .selected, .unreadable, .compacted: break
        }
        return .object(members)
    }
}

extension MessageRevision {
    /// The whole version, with times to the nanosecond.
    fileprivate func normalForm(names: Names) -> JSONValue {
        var members = saying.members(names: names)
        members["version"] = version?.normalForm
        members["created"] = saying.createdAt?.normalForm
        members["edited"] = saying.editedAt?.normalForm
        members["order"] = order.normalForm
        members["form"] = .text(saying.form.map { String($0) })
        return .object(members)
    }
}

extension MessageOrder {
    fileprivate var normalForm: JSONValue {
        switch self {
        case .byID: .string("id")
        case .byCreation: .string("creation")
        case .at(let place): .int(place)
        }
    }
}
