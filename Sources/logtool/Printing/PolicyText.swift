import EventLog
import Projections

/// A policy in words.
enum PolicyText {
    /// A line for each thing that the policy says, the widest rule first.
    static func lines(_ policy: RetentionPolicy) -> [String] {
        var widest = policy.rule.completed
        // That no message stays for its age goes without saying, but for a rule that takes an age back.
        if widest.keepWithin == .zero { widest.keepWithin = nil }
        var lines = ["every channel: " + text(widest)]
        for (place, rule) in policy.rules.sorted(by: { $0.key < $1.key }) {
            lines.append("\(name(place)): " + text(rule))
        }
        for pin in policy.pins.map(\.description).sorted() { lines.append("pinned: " + DisplayText.escaped(pin)) }
        lines.append(
            policy.keepsParents
                ? "messages that kept ones answer stay, too" : "messages that kept ones answer may go"
        )
        switch policy.archivesMax {
        case nil: lines.append("all archives of compactions stay")
        case 0?: lines.append("no archives are made: what goes is gone for good")
        case let count?: lines.append("the newest \(counted(count, "archive")) of compactions stay")
        }
        return lines
    }

    /// What the widest rule says, and that there are others: `500 messages, 0 deleted; 2 rules, 1 pin`.
    static func summary(_ policy: RetentionPolicy) -> String {
        let others = [
            policy.rules.isEmpty ? nil : counted(policy.rules.count, "narrower rule"),
            policy.pins.isEmpty ? nil : counted(policy.pins.count, "pin"),
        ]
        .compactMap { $0 }
        let rest = others.isEmpty ? "" : " (and \(others.joined(separator: ", ")))"
        return text(policy.rule.within(RetentionPolicy().rule)) + rest
    }

    /// One rule: `500 messages, all of the last 90d, 0 deleted`.
    static func text(_ rule: RetentionPolicy.Rule) -> String {
        [
            rule.keep.map { counted($0, "message") },
            rule.keepWithin.map { $0 == .zero ? "none for its age" : "all of the last \(DurationText.text($0))" },
            rule.deleted.map { "\($0) deleted" },
        ]
        .compactMap { $0 }.joined(separator: ", ")
    }

    private static func name(_ place: RetentionPolicy.Place) -> String {
        guard let channel = place.channel else {
            return DisplayText.escaped("every channel of \(place.source.rawValue)")
        }
        return DisplayText.escaped(
            EntityReference(kind: .channel, parts: [place.source.rawValue, channel]).description
        )
    }
}
