/// A chat branch made by a seed: one channel with messages that are edited, deleted and answered, one commit each, as a
/// stream for `git fast-import`.
public struct GeneratedBranch {
    private var random: SeededGenerator
    private var stream = ""
    private var commitCount = 0
    private var live: [Int] = []
    private let epoch = 1_741_064_400

    /// How many messages were written.
    public let messageCount: Int

    /// The text for `git fast-import`.
    public var fastImportStream: String { stream }

    /// How many messages are live at the end.
    public var liveCount: Int { live.count }

    /// Makes the branch `vibechannel` with the given number of messages in the channel `general`.
    public init(messages: Int, seed: UInt64) {
        messageCount = messages
        random = SeededGenerator(seed: seed)
        for number in 0..<messages {
            let parent = number % 6 == 5 ? live.randomElement(using: &random) : nil
            write(number, text: "message \(number)", replyTo: parent)
            live.append(number)
            if number % 7 == 3 { editOne() }
            if number % 17 == 11 { deleteOne() }
        }
    }

    private mutating func editOne() {
        guard let number = live.randomElement(using: &random) else { return }
        write(number, text: "message \(number), edited at commit \(commitCount)", replyTo: nil)
    }

    private mutating func deleteOne() {
        guard let index = live.indices.randomElement(using: &random) else { return }
        let number = live.remove(at: index)
        commit("Delete message by ann", "D \(Self.path(number))\n")
    }

    private mutating func write(_ number: Int, text: String, replyTo: Int?) {
        var lines = ["---", "from: ann", "date: \(Self.date(number))"]
        if let replyTo { lines.append("reply_to: \(Self.name(replyTo)).md") }
        let file = (lines + ["---", "", text]).joined(separator: "\n")
        commit("Message from ann", "M 100644 inline \(Self.path(number))\n\(Self.data(file))")
    }

    private mutating func commit(_ subject: String, _ changes: String) {
        let time = epoch + commitCount * 30
        stream += "commit refs/heads/vibechannel\ncommitter Ann <ann@example.org> \(time) +0000\n"
        stream += Self.data(subject) + changes + "\n"
        commitCount += 1
    }

    private static func data(_ text: String) -> String {
        "data \(text.utf8.count)\n\(text)\n"
    }

    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return "20250304T050000-ann-" + String(repeating: "0", count: 6 - digits.count) + digits
    }

    private static func path(_ number: Int) -> String {
        "general/\(name(number)).md"
    }

    private static func date(_ number: Int) -> String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }
        return "2025-03-\(two(4 + number / 1440 % 20))T\(two(number / 60 % 24)):\(two(number % 60)):00Z"
    }
}
