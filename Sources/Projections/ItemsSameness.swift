/// Sameness by bytes: Swift's own `==` of texts takes `é` in one code point and in two for the same.
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
    /// Whether two values are the same JSON, whatever the order of members and the spelling of numbers.
    func isSameJSON(as other: JSONValue?) -> Bool {
        guard let other else { return false }
        return isSpelledLike(other) || canonicalBytes == other.canonicalBytes
    }

    private func isSpelledLike(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left.text == right.text
        case (.string(let left), .string(let right)): Sameness.areSame(left, right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSpelledLike($1) }
        case (.object(let left), .object(let right)):
            left.members.count == right.members.count
                && zip(left.members, right.members).allSatisfy {
                    Sameness.areSame($0.name, $1.name) && $0.value.isSpelledLike($1.value)
                }
        default: false
        }
    }
}
