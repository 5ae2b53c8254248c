/// Sameness by bytes. Swift's `==` treats `é` as one code point and as two as the same text.
enum Sameness {
    static func areSame(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (let left?, let right?): ExactText.areSame(left, right)
        case (nil, nil): true
        default: false
        }
    }
}

extension JSONValue {
    /// Whether two values have the same canonical text, so that neither the order of members nor the spelling of
    /// numbers counts. Only the canonical texts of numbers are made.
    public func isSameJSON(as other: JSONValue?) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)):
            // Numbers are mostly written alike.
            left.text == right.text || canonicalBytes == JSONValue.number(right).canonicalBytes
        case (.string(let left), .string(let right)): ExactText.areSame(left, right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSameJSON(as: $1) }
        case (.object(let left), .object(let right)): left.hasSameJSON(as: right)
        default: false
        }
    }
}

extension JSONObject {
    fileprivate func hasSameJSON(as other: JSONObject) -> Bool {
        if hasSameStorage(as: other) { return true }
        guard members.count == other.members.count else { return false }
        return zip(members, other.members).allSatisfy { mine, theirs in
            // Objects that are compared mostly have their members in the same order.
            mine.value.isSameJSON(as: ExactText.areSame(mine.name, theirs.name) ? theirs.value : other[mine.name])
        }
    }
}
