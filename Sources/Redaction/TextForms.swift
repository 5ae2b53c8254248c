/// The forms in which texts are looked for within other texts, by their first bytes: the time for a place does not grow with the
/// number of texts.
struct TextForms {
    /// What a text is, which decides where it is looked for.
    enum Role: Hashable {
        /// Found anywhere.
        case text
        /// What a person wrote: a short one only as whole lines.
        case written
        /// A person's id of digits alone.
        case number(isLong: Bool)
        /// Another id of a person, or a name: as a whole word.
        case name

        /// Whether it is an id or a name.
        var isOfPerson: Bool { self != .text && self != .written }

        /// Whether a JSON number can be it.
        var isNumber: Bool { if case .number = self { true } else { false } }
    }

    /// A form of a text.
    struct Form {
        let bytes: [UInt8]
        /// The number of the text.
        let text: Int
        let role: Role

        /// A text of so many bytes hardly stands in another one by chance.
        var isLong: Bool { bytes.count >= TextForms.longBytes }
    }

    /// A place in which a text was found.
    struct Match: Hashable {
        /// The number of the text.
        let text: Int
        let range: Range<Int>
        let role: Role
        /// Whether it is all of the other text.
        let isWhole: Bool
        /// Whether it is written as a mention: `@NAME` or `<@ID>`.
        let isMention: Bool
    }

    /// A text of so many bytes hardly stands in another one by chance.
    static let longBytes = 8

    /// By up to four first bytes, the longest first: of two that begin at one place the longer one is replaced.
    private var forms: [UInt64: [Form]] = [:]
    /// How many first bytes are keys, the most first.
    private var keyCounts: [Int] = []
    /// Whether a form begins with a byte.
    private var starts = [Bool](repeating: false, count: 256)

    mutating func add(_ text: String, number: Int, _ role: Role) {
        let bytes = Array(text.utf8)
        let count = min(bytes.count, 4)
        guard count > 0 else { return }
        if !keyCounts.contains(count) { keyCounts = (keyCounts + [count]).sorted(by: >) }
        starts[Int(bytes[0])] = true
        let key = Self.key(bytes, at: 0, count)
        var known = forms[key] ?? []
        let place = known.firstIndex { $0.bytes.count < bytes.count } ?? known.count
        known.insert(Form(bytes: bytes, text: number, role: role), at: place)
        forms[key] = known
    }

    /// The forms that a closure chooses, as texts.
    func all(_ isChosen: (Form) -> Bool) -> [String] {
        forms.values.joined().filter(isChosen).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// The longest text at a place, where its role lets it be found.
    ///
    /// - Parameter loose: Numbers of texts that are found anywhere, of ids and names as words.
    func match(in bytes: [UInt8], at start: Int, loose: Set<Int>) -> Match? {
        candidates(in: bytes, at: start) { form in
            let range = start..<start + form.bytes.count
            let isMention = form.role.isOfPerson && Self.isMention(range, in: bytes)
            let isLoose = loose.contains(form.text) && (!form.role.isOfPerson || Self.isWord(range, in: bytes))
            guard isLoose || isMention || Self.isFound(form, at: range, in: bytes) else { return nil }
            return Match(
                text: form.text,
                range: range,
                role: form.role,
                isWhole: range == 0..<bytes.count,
                isMention: isMention
            )
        }
    }

    /// Whether all bytes are a text; a short one counts only if that is `isShortEnough`.
    func isWhole(_ bytes: [UInt8], isShortEnough: Bool) -> Bool {
        candidates(in: bytes, at: 0) { form -> Bool? in
            form.bytes.count == bytes.count && (form.isLong || isShortEnough) ? true : nil
        } ?? false
    }

    /// Whether a text begins at a place that hardly stands there by chance.
    func hasLong(in bytes: [UInt8], at start: Int) -> Bool {
        candidates(in: bytes, at: start) { $0.isLong ? true : nil } ?? false
    }

    /// The first result for a form that stands at a place, the longest first.
    private func candidates<Result>(in bytes: [UInt8], at start: Int, _ body: (Form) -> Result?) -> Result? {
        guard start < bytes.count, starts[Int(bytes[start])] else { return nil }
        let left = bytes.count - start
        for count in keyCounts where count <= left {
            for form in forms[Self.key(bytes, at: start, count)] ?? [] where form.bytes.count <= left {
                guard bytes[start..<start + form.bytes.count].elementsEqual(form.bytes) else { continue }
                if let result = body(form) { return result }
            }
        }
        return nil
    }

    private static func key(_ bytes: [UInt8], at start: Int, _ count: Int) -> UInt64 {
        bytes[start..<start + count].reduce(UInt64(count)) { $0 << 8 | UInt64($1) }
    }

    /// Whether the role of a form lets it be found in a place.
    private static func isFound(_ form: Form, at range: Range<Int>, in bytes: [UInt8]) -> Bool {
        switch form.role {
        case .text: true
        case .written: form.isLong || isWholeLines(range, in: bytes)
        case .number(isLong: false): range == 0..<bytes.count
        case .number, .name: isWord(range, in: bytes)
        }
    }

    /// Whether only white space stands between a place and the ends of its lines.
    private static func isWholeLines(_ range: Range<Int>, in bytes: [UInt8]) -> Bool {
        func isClear(_ part: some Sequence<UInt8>) -> Bool {
            for byte in part {
                if byte == 0x0A || byte == 0x0D { return true }
                if byte != 0x20, byte != 0x09 { return false }
            }
            return true
        }
        return isClear(bytes[..<range.lowerBound].reversed()) && isClear(bytes[range.upperBound...])
    }

    /// Whether no letter, digit or `_` is beside a place.
    static func isWord(_ range: Range<Int>, in bytes: [UInt8]) -> Bool {
        (range.lowerBound == 0 || !isWordByte(bytes[range.lowerBound - 1]))
            && (range.upperBound == bytes.count || !isWordByte(bytes[range.upperBound]))
    }

    /// Whether a place has `@` before it, which is not part of an address, and ends there.
    private static func isMention(_ range: Range<Int>, in bytes: [UInt8]) -> Bool {
        var before = range.lowerBound - 1
        if before >= 1, bytes[before] == UInt8(ascii: "!"), bytes[before - 1] == UInt8(ascii: "@") { before -= 1 }
        guard before >= 0, bytes[before] == UInt8(ascii: "@"), isWord(range, in: bytes) else { return false }
        return before == 0 || !isWordByte(bytes[before - 1])
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }
}
