import EventLog

/// Which keys the events of a benchmark have.
enum KeyKind: String, CaseIterable {
    case growing, random
}

extension Corpus {
    /// The frames as drafts. Making them is not part of what is measured.
    func drafts(firstNumber: Int, keys: KeyKind) throws -> [DraftEvent] {
        let source = try SourceName("gateway")
        let kind = try EventKind("gateway.frame/1")
        return try (0..<count).map { index in
            DraftEvent(
                recordedAt: Timestamp(microseconds: 1_767_225_600_000_000 + Int64(firstNumber + index) * 1000),
                source: source,
                kind: kind,
                key: try EventKey(Self.key(firstNumber + index, keys)),
                attributes: ["dir": "in"],
                payload: payload(index)
            )
        }
    }

    static func key(_ number: Int, _ keys: KeyKind) -> String {
        switch keys {
        case .growing:
            let digits = String(number)
            return "1767225600000/" + String(repeating: "0", count: 10 - digits.count) + digits
        case .random:
            var mixed = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            mixed ^= mixed >> 31
            let digits = String(mixed, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }
}
