import EventLog
import JSON

/// A content as bytes: a number whose bits tell which members follow, the members, then the text up to the end.
///
/// Times, the answered id and the form come first, so that they are read without the texts. Handles mean nothing without the
/// state's `Names`. Equal contents can have different bytes, as texts in `author` that look alike are equal.
extension MessageSaying {
    /// The bits of the first number. Most contents have members with the lowest bits only, so that it takes one byte.
    private enum Bit {
        static let createdAt: UInt64 = 1 << 0
        static let replyTo: UInt64 = 1 << 1
        static let author: UInt64 = 1 << 2
        static let form: UInt64 = 1 << 3
        static let tags: UInt64 = 1 << 4
        static let authorName: UInt64 = 1 << 5
        static let editedAt: UInt64 = 1 << 6
        static let createdNanoseconds: UInt64 = 1 << 7
        static let editedNanoseconds: UInt64 = 1 << 8
        static let files: UInt64 = 1 << 9
        static let images: UInt64 = 1 << 10
        /// The attachments and the other members, written by a `StateEncoder` behind their length.
        static let rest: UInt64 = 1 << 11
        /// The same as the text of an object, behind its length, as a plain frame has them.
        static let object: UInt64 = 1 << 12
    }

    /// Appends the content.
    ///
    /// - Throws: only what a `StateEncoder` without a limit throws, which is nothing.
    func pack(into bytes: inout [UInt8]) throws {
        var bits: UInt64 = 0
        func mark(_ bit: UInt64, _ isPresent: Bool) { if isPresent { bits |= bit } }
        mark(Bit.createdAt, createdAt != nil)
        mark(Bit.createdNanoseconds, createdAt.map { $0.nanoseconds > 0 } ?? false)
        mark(Bit.editedAt, editedAt != nil)
        mark(Bit.editedNanoseconds, editedAt.map { $0.nanoseconds > 0 } ?? false)
        mark(Bit.replyTo, replyTo != nil)
        mark(Bit.form, form != nil)
        mark(Bit.author, author != nil)
        mark(Bit.authorName, authorName != nil)
        mark(Bit.tags, tags != nil)
        mark(Bit.files, files != nil)
        mark(Bit.images, images != nil)
        mark(Bit.rest, attachments != nil || !extra.members.isEmpty)
        bytes.appendNumber(bits)
        if let createdAt { bytes.append(createdAt) }
        if let editedAt { bytes.append(editedAt) }
        if let replyTo { bytes.appendNumber(replyTo.rawValue) }
        if let form { Swift.withUnsafeBytes(of: form.littleEndian) { bytes.append(contentsOf: $0) } }
        if let author { bytes.append(author) }
        if let authorName { bytes.append(authorName) }
        if let tags { bytes.append(tags) }
        if let files { bytes.append(files) }
        if let images { bytes.append(images) }
        if bits & Bit.rest != 0 {
            let encoder = StateEncoder()
            try attachments.write(to: encoder)
            try extra.write(to: encoder)
            bytes.appendNumber(UInt64(encoder.bytes.count))
            bytes.append(contentsOf: encoder.bytes)
        }
        bytes.append(contentsOf: text.string.utf8)
    }

    /// Appends a content as a gateway's frame has it, without making its values.
    ///
    /// - Parameters:
    ///   - replyTo: `EntityID.none` for none.
    ///   - rest: the attachments and the other members.
    static func pack(
        author: UInt64,
        authorName: JSONText?,
        createdAt: PackedTime,
        editedAt: PackedTime,
        replyTo: EntityID,
        rest: MemberRuns,
        text: JSONText,
        into bytes: inout [UInt8]
    ) {
        var bits = Bit.author
        func mark(_ bit: UInt64, _ isPresent: Bool) { if isPresent { bits |= bit } }
        let (createdAt, editedAt) = (createdAt.timestamp, editedAt.timestamp)
        mark(Bit.createdAt, createdAt != nil)
        mark(Bit.createdNanoseconds, createdAt.map { $0.nanoseconds > 0 } ?? false)
        mark(Bit.editedAt, editedAt != nil)
        mark(Bit.editedNanoseconds, editedAt.map { $0.nanoseconds > 0 } ?? false)
        mark(Bit.replyTo, replyTo != .none)
        mark(Bit.authorName, authorName != nil)
        mark(Bit.object, !rest.isEmpty)
        bytes.appendNumber(bits)
        if let createdAt { bytes.append(createdAt) }
        if let editedAt { bytes.append(editedAt) }
        if replyTo != .none { bytes.appendNumber(replyTo.rawValue) }
        bytes.append(String(author))
        authorName?.withUTF8 { name in
            bytes.appendNumber(UInt64(name.count))
            bytes.append(contentsOf: name)
        }
        if !rest.isEmpty {
            bytes.appendNumber(UInt64(rest.byteCount))
            rest.appendObject(to: &bytes)
        }
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Reads what `pack` appended; `nil` for anything else.
    init?(packed bytes: UnsafeRawBufferPointer) {
        var reader = NumberReader(bytes)
        guard let head = PackedHead(&reader), let tail = PackedTail(&reader, head) else { return nil }
        self.init(
            text: MessageText(String(decoding: reader.rest, as: UTF8.self)),
            author: tail.author,
            authorName: tail.authorName,
            createdAt: head.createdAt,
            editedAt: head.editedAt,
            replyTo: head.replyTo,
            tags: tail.tags,
            files: tail.files,
            images: tail.images,
            attachments: tail.attachments,
            extra: tail.extra,
            form: head.form
        )
    }

    /// The time at which a packed content was created.
    static func createdAt(packed bytes: UnsafeRawBufferPointer) -> Timestamp? {
        var reader = NumberReader(bytes)
        return PackedHead(&reader)?.createdAt
    }

    /// The bytes of a packed content's text.
    static func text(packed bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var reader = NumberReader(bytes)
        guard let head = PackedHead(&reader), PackedTail.skip(&reader, head) else { return nil }
        return reader.rest
    }

    /// The members without texts.
    private struct PackedHead {
        let bits: UInt64
        var createdAt: Timestamp?
        var editedAt: Timestamp?
        var replyTo: EntityID?
        var form: UInt64?

        init?(_ reader: inout NumberReader) {
            guard let bits = reader.number() else { return nil }
            self.bits = bits
            if has(Bit.createdAt) {
                guard let time = reader.time(has(Bit.createdNanoseconds)) else { return nil }
                createdAt = time
            }
            if has(Bit.editedAt) {
                guard let time = reader.time(has(Bit.editedNanoseconds)) else { return nil }
                editedAt = time
            }
            if has(Bit.replyTo) {
                guard let id = reader.number() else { return nil }
                replyTo = EntityID(saved: id)
            }
            if has(Bit.form) {
                guard let hash = reader.bytes(8) else { return nil }
                form = UInt64(littleEndian: hash.loadUnaligned(as: UInt64.self))
            }
        }

        func has(_ bit: UInt64) -> Bool { bits & bit != 0 }
    }

    /// The members between the head and the text.
    private struct PackedTail {
        var author: String?
        var authorName: String?
        var tags: [String]?
        var files: [String]?
        var images: [String]?
        var attachments: [JSONValue]?
        var extra = JSONObject()

        init?(_ reader: inout NumberReader, _ head: PackedHead) {
            if head.has(Bit.author) {
                guard let text = reader.text() else { return nil }
                author = text
            }
            if head.has(Bit.authorName) {
                guard let text = reader.text() else { return nil }
                authorName = text
            }
            if head.has(Bit.tags) {
                guard let list = reader.texts() else { return nil }
                tags = list
            }
            if head.has(Bit.files) {
                guard let list = reader.texts() else { return nil }
                files = list
            }
            if head.has(Bit.images) {
                guard let list = reader.texts() else { return nil }
                images = list
            }
            if head.has(Bit.object) {
                guard let object = reader.block() else { return nil }
                let rest = PackedRest(object)
                (attachments, extra) = (rest.attachments, rest.extra)
            }
            guard head.has(Bit.rest) else { return }
            let rest = reader.block().flatMap { block in
                try? StateDecoder.value(from: Array(block)) { decoder in
                    (try [JSONValue]?.read(from: decoder), try JSONObject.read(from: decoder))
                }
            }
            guard let rest else { return nil }
            (attachments, extra) = rest
        }

        /// Passes over the members; false if they are cut short.
        static func skip(_ reader: inout NumberReader, _ head: PackedHead) -> Bool {
            for bit in [Bit.author, Bit.authorName] where head.has(bit) {
                if reader.block() == nil { return false }
            }
            for bit in [Bit.tags, Bit.files, Bit.images] where head.has(bit) {
                guard let count = reader.number() else { return false }
                for _ in 0..<count where reader.block() == nil { return false }
            }
            for bit in [Bit.object, Bit.rest] where head.has(bit) {
                if reader.block() == nil { return false }
            }
            return true
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ text: String) {
        appendNumber(UInt64(text.utf8.count))
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func append(_ texts: [String]) {
        appendNumber(UInt64(texts.count))
        for text in texts { append(text) }
    }

    fileprivate mutating func append(_ time: Timestamp) {
        appendSigned(time.seconds)
        if time.nanoseconds > 0 { appendNumber(UInt64(time.nanoseconds)) }
    }
}

extension NumberReader {
    /// The next bytes, behind their length.
    fileprivate mutating func block() -> UnsafeRawBufferPointer? { number().flatMap { bytes($0) } }

    fileprivate mutating func text() -> String? { block().map { String(decoding: $0, as: UTF8.self) } }

    fileprivate mutating func texts() -> [String]? {
        guard let count = number() else { return nil }
        var texts: [String] = []
        // The count may be wrong, so memory is reserved only as texts are read.
        for _ in 0..<count {
            guard let text = text() else { return nil }
            texts.append(text)
        }
        return texts
    }

    fileprivate mutating func time(_ hasNanoseconds: Bool) -> Timestamp? {
        guard let seconds = signed() else { return nil }
        guard hasNanoseconds else { return Timestamp(seconds: seconds) }
        guard let nanoseconds = number(), nanoseconds < 1_000_000_000 else { return nil }
        return Timestamp(seconds: seconds, nanoseconds: UInt32(nanoseconds))
    }
}
