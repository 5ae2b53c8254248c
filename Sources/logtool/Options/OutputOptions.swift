import ArgumentParser

/// When output is coloured. `NO_COLOR` (https://no-color.org) counts only for `auto`: an option is more than the
/// environment.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, always, never
}

/// Colour, progress and pager. Every command has these options.
struct OutputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Colour the output; auto: on a terminal, unless NO_COLOR is set.", valueName: "when"))
    var color = ColorChoice.auto

    @Flag(name: .shortAndLong, help: "Print no progress and no warnings.")
    var quiet = false

    @Flag(name: .customLong("no-pager"), help: "Do not show long output with a pager.")
    var noPager = false

    /// A progress line for an activity; shown only on a terminal. It begins at once, so make it right before the work.
    func progress(_ activity: String) -> Progress {
        Progress(activity, isQuiet: quiet)
    }

    /// Standard output for long lists: through a pager on a terminal, if the form is for people. Not for forms that
    /// programs read, even on a terminal.
    func paged(unless form: ListForm) -> StandardOutput {
        let output = standardOutput
        if form == .text, !noPager { output.pager = Pager.chosen }
        return output
    }

    /// Standard output, with the colour and width that options and terminal give it.
    var standardOutput: StandardOutput {
        StandardOutput(style: Style(hasColor: hasColor, width: Terminal.width(of: 1)))
    }

    /// Whether to colour. An empty `NO_COLOR` counts as not set, as its convention says.
    private var hasColor: Bool {
        switch color {
        case .always: true
        case .never: false
        case .auto: Terminal.knowsEscapes(1) && (Terminal.environment("NO_COLOR") ?? "").isEmpty
        }
    }
}

/// Machine-readable output as one document.
struct JSONOption: ParsableArguments {
    @Flag(help: "Print one JSON document.")
    var json = false
}

/// How a list is written.
enum ListForm {
    /// For people.
    case text
    /// As one JSON document.
    case document
    /// As one JSON object per line.
    case lines
}

/// Machine-readable output as one document or as lines. `--jsonl` is for long lists: a reader takes each line as it
/// comes, and needs no memory for the whole.
struct JSONListOptions: ParsableArguments {
    @Flag(help: "Print one JSON document.")
    var json = false

    @Flag(help: "Print one JSON object per line.")
    var jsonl = false

    /// The form that the two flags choose.
    var form: ListForm {
        json ? .document : (jsonl ? .lines : .text)
    }

    func validate() throws {
        if json && jsonl { throw ValidationError("--json and --jsonl exclude each other") }
    }
}
