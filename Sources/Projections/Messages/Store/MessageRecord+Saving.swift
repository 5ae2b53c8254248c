import EventLog

extension MessageKey: StateCodable {
    func write(to encoder: StateEncoder) {
        channel.write(to: encoder)
        id.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> MessageKey {
        MessageKey(channel: try .read(from: decoder), id: try .read(from: decoder))
    }
}

/// The fields of each type below come in one order in `write` and `read`; nothing else tells them apart. A change of
/// either needs no new version, as another build's states are discarded.
extension MessageRecord: StateCodable {
    func write(to encoder: StateEncoder) throws {
        key.write(to: encoder)
        try standing.write(to: encoder)
        try current.write(to: encoder)
        try entries.write(to: encoder)
        try placedBy.write(to: encoder)
        try relatives.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> MessageRecord {
        var record = MessageRecord(
            key: try .read(from: decoder),
            standing: try .read(from: decoder),
            current: try .read(from: decoder),
            entries: try .read(from: decoder)
        )
        record.placedBy = try .read(from: decoder)
        // One by one, because only `relate` may change `relatives`.
        for relative in try [MessageKey].read(from: decoder) { record.relate(to: relative) }
        return record
    }
}

extension MessageRecord.Standing: StateCodable {
    func write(to encoder: StateEncoder) throws {
        switch self {
        case .nowhere: encoder.writeNumber(UInt8(0))
        case .live: encoder.writeNumber(UInt8(1))
        case .deleted(let end):
            encoder.writeNumber(UInt8(2))
            try end.write(to: encoder)
        }
    }

    static func read(from decoder: StateDecoder) throws -> MessageRecord.Standing {
        switch try decoder.readTag(below: 3) {
        case 0: .nowhere
        case 1: .live
        default: .deleted(try .read(from: decoder))
        }
    }
}

extension MessageRecord.End: StateCodable {
    func write(to encoder: StateEncoder) throws {
        encoder.writeText(cause.rawValue)
        encoder.writeTruth(permanence == .forever)
        try deletedAt.write(to: encoder)
        try deletedBy.write(to: encoder)
        try version.write(to: encoder)
        since.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> MessageRecord.End {
        guard let cause = MessageDeletion.Cause(rawValue: try decoder.readText()) else {
            throw decoder.fault("there is no such cause of a deletion")
        }
        return MessageRecord.End(
            cause: cause,
            permanence: try decoder.readTruth() ? .forever : .untilWritten,
            deletedAt: try .read(from: decoder),
            deletedBy: try .read(from: decoder),
            version: try .read(from: decoder),
            since: try .read(from: decoder)
        )
    }
}

extension MessageRecord.Entry: StateCodable {
    func write(to encoder: StateEncoder) throws {
        event.write(to: encoder)
        try happening.write(to: encoder)
        try revision.write(to: encoder)
        encoder.writeTruth(isNewRevision)
        encoder.writeTruth(isReplaced)
        arrival.write(to: encoder)
        try remoteTime.write(to: encoder)
        try by.write(to: encoder)
        try appended.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> MessageRecord.Entry {
        MessageRecord.Entry(
            event: try .read(from: decoder),
            happening: try .read(from: decoder),
            revision: try .read(from: decoder),
            isNewRevision: try decoder.readTruth(),
            isReplaced: try decoder.readTruth(),
            arrival: try .read(from: decoder),
            remoteTime: try .read(from: decoder),
            by: try .read(from: decoder),
            appended: try .read(from: decoder)
        )
    }
}

extension MessageRecord.Entry.Piece: StateCodable {
    func write(to encoder: StateEncoder) throws {
        event.write(to: encoder)
        encoder.writeNumber(UInt64(textBytes))
    }

    static func read(from decoder: StateDecoder) throws -> MessageRecord.Entry.Piece {
        MessageRecord.Entry.Piece(
            event: try .read(from: decoder),
            textBytes: Int(truncatingIfNeeded: try UInt64.read(from: decoder))
        )
    }
}

extension MessageRecord.Entry.Arrival: StateCodable {
    func write(to encoder: StateEncoder) { encoder.writeNumber(rawValue) }

    static func read(from decoder: StateDecoder) throws -> MessageRecord.Entry.Arrival {
        switch try decoder.readTag(below: 3) {
        case 0: .inTime
        case 1: .late
        default: .lateAndKnown
        }
    }
}

extension MessageRecord.Entry.Happening: StateCodable {
    func write(to encoder: StateEncoder) throws {
        switch self {
        case .created: encoder.writeNumber(UInt8(0))
        case .edited: encoder.writeNumber(UInt8(1))
        case .linked: encoder.writeNumber(UInt8(2))
        case .restored: encoder.writeNumber(UInt8(3))
        case .moved(let from, let to):
            encoder.writeNumber(UInt8(4))
            from.write(to: encoder)
            to.write(to: encoder)
        case .deleted(let end):
            encoder.writeNumber(UInt8(5))
            try end.write(to: encoder)
        case .unreadable: encoder.writeNumber(UInt8(6))
        case .selected: encoder.writeNumber(UInt8(7))
        case .unselected(let end):
            encoder.writeNumber(UInt8(8))
            try end.write(to: encoder)
        case .compacted: encoder.writeNumber(UInt8(9))
        }
    }

    static func read(from decoder: StateDecoder) throws -> MessageRecord.Entry.Happening {
        switch try decoder.readTag(below: 10) {
        case 0: .created
        case 1: .edited
        case 2: .linked
        case 3: .restored
        case 4: .moved(from: try .read(from: decoder), to: try .read(from: decoder))
        case 5: .deleted(try .read(from: decoder))
        case 6: .unreadable
        case 7: .selected
        case 8: .unselected(try .read(from: decoder))
        default: .compacted
        }
    }
}

extension MessageRevision: StateCodable {
    func write(to encoder: StateEncoder) throws {
        try version.write(to: encoder)
        order.write(to: encoder)
        try saying.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> MessageRevision {
        MessageRevision(
            version: try .read(from: decoder),
            order: try .read(from: decoder),
            saying: try .read(from: decoder)
        )
    }
}

extension MessageOrder: StateCodable {
    func write(to encoder: StateEncoder) {
        switch self {
        case .byID: encoder.writeNumber(UInt8(0))
        case .byCreation: encoder.writeNumber(UInt8(1))
        case .at(let place):
            encoder.writeNumber(UInt8(2))
            encoder.writeNumber(place)
        }
    }

    static func read(from decoder: StateDecoder) throws -> MessageOrder {
        switch try decoder.readTag(below: 3) {
        case 0: .byID
        case 1: .byCreation
        default: .at(try decoder.readNumber(Int.self))
        }
    }
}

extension MessageSaying: StateCodable {
    func write(to encoder: StateEncoder) throws {
        encoder.writeText(text.string)
        try author.write(to: encoder)
        try authorName.write(to: encoder)
        try createdAt.write(to: encoder)
        try editedAt.write(to: encoder)
        try replyTo.write(to: encoder)
        try tags.write(to: encoder)
        try files.write(to: encoder)
        try images.write(to: encoder)
        try attachments.write(to: encoder)
        try extra.write(to: encoder)
        try form.write(to: encoder)
    }

    static func read(from decoder: StateDecoder) throws -> MessageSaying {
        MessageSaying(
            text: MessageText(try decoder.readText()),
            author: try .read(from: decoder),
            authorName: try .read(from: decoder),
            createdAt: try .read(from: decoder),
            editedAt: try .read(from: decoder),
            replyTo: try .read(from: decoder),
            tags: try .read(from: decoder),
            files: try .read(from: decoder),
            images: try .read(from: decoder),
            attachments: try .read(from: decoder),
            extra: try .read(from: decoder),
            form: try .read(from: decoder)
        )
    }
}
