import EventLog
import JSON

extension Messages {
    /// Writes the row of the message at a place in canonical form; false, without writing, if it has none in this
    /// section.
    ///
    /// - Parameter source: as in `LentMessage.write`.
    @inline(__always)
    func writeRow(
        of section: Section,
        at place: Int,
        source: [UInt8]? = nil,
        to writer: inout CanonicalWriter,
        _ names: Names,
        _ rules: ReadingRules
    ) -> Bool {
        withRow(of: section, at: place, names, rules) { $0.write(to: &writer, source: source) } != nil
    }
}

/// The canonical form of a message's row, written without making values of it. The members come in canonical order, by
/// name; a new member of a row needs its place here and in `LentMessage.Member`.
extension LentMessage {
    /// Writes the row.
    ///
    /// - Parameter source: The member `source` behind a comma, for a row of the document, which has the sequence of a
    ///   deletion, too; `nil` for a row of the digest, which has neither (I12).
    @inline(__always)
    func write(to writer: inout CanonicalWriter, source: [UInt8]?) {
        if let end { return writeDeleted(end, to: &writer, source: source) }
        guard case .packed(_, _, _, _, let object)? = version, !object.isEmpty else {
            return writeLive(nil, to: &writer, source: source)
        }
        PlainObject.with(object) { writeLive($0, to: &writer, source: source) }
    }

    /// Writes the row of a live message.
    ///
    /// - Parameter plain: The members that a packed version keeps verbatim, if they are plain. They contain no list of
    ///   attachments.
    private func writeLive(_ plain: PlainObject?, to writer: inout CanonicalWriter, source: [UInt8]?) {
        guard let version else { return }
        let (attachments, extra) = plain == nil ? version.rest : (.none, .none)
        var start: StaticString = "{"
        writer.member(&start, "\"attachments\":", attachments)
        writer.member(&start, "\"author\":", version.author)
        writer.member(&start, "\"authorName\":", version.authorName)
        writer.member(&start, "\"channel\":", channel)
        writer.member(&start, "\"compacted\":", self[.compacted])
        writer.member(&start, "\"content\":", version.content)
        writer.member(&start, "\"createdAt\":", version.createdAt)
        writer.member(&start, "\"editedAt\":", version.editedAt)
        if let plain {
            _ = plain.writeExtra(behind: ",\"extra\":", to: &writer)
        } else {
            writer.member(&start, "\"extra\":", extra)
        }
        writer.member(&start, "\"files\":", version.files)
        writer.member(&start, "\"id\":", id)
        writer.member(&start, "\"images\":", version.images)
        writer.member(&start, "\"reactions\":", LentValue(reactions))
        if let parent {
            writer.member(&start, "\"replyTo\":{\"id\":", parent.id)
            writer.member(&start, "\"state\":", .string(parent.state))
            writer.raw("}")
        }
        writer.member(&start, "\"revisions\":", .count(revisions))
        if let source { writer.raw(source) }
        writer.member(&start, "\"tags\":", version.tags)
        writer.raw("}")
    }

    /// Writes the row of a tombstone. A tombstone without a version has neither author nor content.
    private func writeDeleted(_ end: MessageRecord.End, to writer: inout CanonicalWriter, source: [UInt8]?) {
        var start: StaticString = "{"
        writer.member(&start, "\"author\":", self[.author])
        writer.member(&start, "\"cause\":", .string(end.cause.rawValue))
        writer.member(&start, "\"channel\":", channel)
        writer.member(&start, "\"compacted\":", self[.compacted])
        writer.member(&start, "\"content\":", self[.content])
        writer.member(&start, "\"createdAt\":", self[.createdAt])
        writer.member(&start, "\"deletedAt\":", self[.deletedAt])
        writer.member(&start, "\"deletedBy\":", self[.deletedBy])
        writer.member(&start, "\"id\":", id)
        if let source {
            writer.member(&start, "\"sequence\":", self[.sequence])
            writer.raw(source)
        }
        writer.raw("}")
    }
}

extension CanonicalWriter {
    /// Writes a member behind what begins it, which is a comma for the next one; nothing for a value that does not
    /// exist.
    @inline(__always)
    fileprivate mutating func member(_ start: inout StaticString, _ name: StaticString, _ value: LentValue) {
        if case .none = value { return }
        raw(start)
        start = ","
        raw(name)
        self.value(value)
    }

    /// Writes a lent value, which must exist.
    @inline(__always)
    mutating func value(_ value: LentValue) {
        switch value {
        case .none: assertionFailure("a member without a value is left out")
        case .text(let text): string(text)
        case .string(let text): self.value(.string(text) as JSONValue)
        case .number(let number):
            raw("\"")
            self.number(number)
            raw("\"")
        case .time(let time): self.time(time)
        case .count(let count): number(UInt64(clamping: count))
        case .value(let value): self.value(value)
        }
    }
}
