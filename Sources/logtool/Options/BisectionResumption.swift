import EventLog

/// The command line that continues an interrupted search: the original one, between nearer ends. Options may be written
/// as `--good P` or `--good=P`. The new search tests both ends again.
struct BisectionResumption {
    private let words: [String]

    /// - Parameter arguments: The arguments that began the search, without the program's name.
    init(arguments: [String]) {
        var words: [String] = []
        var isValue = false
        for word in arguments {
            if isValue {
                isValue = false
                continue
            }
            isValue = Self.ends.contains(word)
            if isValue || Self.ends.contains(where: { word.hasPrefix($0 + "=") }) { continue }
            words.append(word)
        }
        self.words = words
    }

    /// The command that searches between two points.
    func command(good: SequenceNumber, bad: SequenceNumber) -> String {
        (["logtool"] + words + ["--good", "\(good)", "--bad", "\(bad)"]).map(ShellWord.quoted).joined(separator: " ")
    }

    private static let ends = ["--good", "--bad"]
}
