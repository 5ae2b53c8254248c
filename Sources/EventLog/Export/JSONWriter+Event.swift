import JSON

extension JSONWriter {
    /// Writes everything that an event's leaf hash covers. Sequences are texts, because many readers round large numbers.
    mutating func members(of event: RecordedEvent) {
        member("sequence", event.envelope.sequence.description)
        member("recordedAt", event.envelope.recordedAt.description)
        member("source", event.envelope.source.rawValue)
        member("kind", event.envelope.kind.rawValue)
        if let key = event.envelope.key { member("key", key.rawValue) }
        name("attributes")
        begin("{")
        for pair in event.envelope.attributes.pairs {
            name(of: pair.name)
            string(pair.value)
        }
        end("}")
        if let salt = event.salt {
            member("salt", base64: salt)
        } else {
            name("redacted")
            literal(true)
            member("commitment", event.commitment)
        }
        event.payload.withUnsafeBufferPointer { payload in
            if UTF8Sequence.firstFault(in: payload) == payload.count {
                name("payload")
                string(payload)
            } else {
                name("payloadBase64")
                base64(UnsafeRawBufferPointer(payload))
            }
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
