import JSON

extension JSONWriter {
    /// Writes everything that an event's leaf hash covers. Sequences are texts, because many readers round large numbers.
    mutating func members(of event: RecordedEvent) {
        members(of: event.envelope)
        if let salt = event.salt { member("salt", base64: salt) } else { redacted(event.commitment) }
        event.payload.withUnsafeBytes { payload($0) }
    }

    /// Writes the same as for a copy of the event, but copies neither its key nor its payload.
    mutating func members(of event: borrowing EventView) {
        let key = event.record.key.map { $0.bindMemory(to: UInt8.self) }
        if let key, UTF8Sequence.firstFault(in: key) < key.count {
            // Only a damaged log holds such a key; a copy repairs it.
            members(of: event.envelope)
        } else {
            begin(event.sequence, event.recordedAt, event.source, event.kind)
            if let key {
                name("key")
                string(key)
            }
            attributes(event.attributes)
        }
        if let salt = event.record.salt {
            name("salt")
            base64(salt)
        } else {
            redacted(event.record.commitment)
        }
        event.withPayload { payload($0) }
    }

    private mutating func members(of envelope: Envelope) {
        begin(envelope.sequence, envelope.recordedAt, envelope.source, envelope.kind)
        if let key = envelope.key { member("key", key.rawValue) }
        attributes(envelope.attributes)
    }

    private mutating func begin(
        _ sequence: SequenceNumber,
        _ recordedAt: Timestamp,
        _ source: SourceName,
        _ kind: EventKind
    ) {
        member("sequence", sequence.description)
        member("recordedAt", recordedAt.description)
        member("source", source.rawValue)
        member("kind", kind.rawValue)
    }

    private mutating func attributes(_ attributes: Attributes) {
        name("attributes")
        begin("{")
        for pair in attributes.pairs {
            name(of: pair.name)
            string(pair.value)
        }
        end("}")
    }

    private mutating func redacted(_ commitment: Hash256) {
        name("redacted")
        literal(true)
        member("commitment", commitment)
    }

    private mutating func payload(_ bytes: UnsafeRawBufferPointer) {
        let text = bytes.bindMemory(to: UInt8.self)
        if UTF8Sequence.firstFault(in: text) == text.count {
            name("payload")
            string(text)
        } else {
            name("payloadBase64")
            base64(bytes)
        }
    }

    mutating func member(_ name: StaticString, _ event: RecordedEvent) {
        self.name(name)
        begin("{")
        members(of: event)
        end("}")
    }

    mutating func member(_ name: StaticString, _ text: String) {
        self.name(name)
        string(text)
    }

    mutating func member(_ name: StaticString, base64 bytes: [UInt8]) {
        self.name(name)
        base64(bytes)
    }

    mutating func member(_ name: StaticString, _ hash: Hash256) {
        member(name, base64: hash.bytes)
    }

    mutating func member(_ name: StaticString, _ hashes: [Hash256]) {
        self.name(name)
        begin("[")
        for hash in hashes { base64(hash.bytes) }
        end("]")
    }
}
