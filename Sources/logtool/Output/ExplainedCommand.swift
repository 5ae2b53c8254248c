import ArgumentParser

/// One line of a help's examples: what to type, and what it does.
struct Example {
    let command: String
    let meaning: String

    init(_ command: String, _ meaning: String) {
        self.command = command
        self.meaning = meaning
    }
}

/// A command whose help begins with examples.
protocol ExplainedCommand: ParsableCommand {
    static var examples: [Example] { get }
}
