import ArgumentParser

/// The map of a cache, and the values for its `{values.NAME}`.
///
/// Values let one map serve several accounts or folders; `CacheMapReader` puts them in while it reads.
struct MapOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Which table and column takes which member: a YAML file.", valueName: "file"),
        completion: .file()
    )
    var map: String?

    @Option(
        name: .customLong("value"),
        help: ArgumentHelp("What stands for {values.NAME} in the map.", valueName: "name=text"),
        transform: NamedValue.parse
    )
    var values: [NamedValue] = []

    /// The values by name; of a name given twice, the last value.
    var valuesByName: [String: String] {
        Dictionary(values.map { ($0.name, $0.text) }, uniquingKeysWith: { $1 })
    }

    func validate() throws {
        if map == nil, !values.isEmpty { throw ValidationError("--value goes with --map") }
    }
}

/// A name and a text, `owner=ada`.
struct NamedValue {
    let name: String
    let text: String

    /// Splits at the first `=`, so the text may contain more of them, or be empty.
    static func parse(_ argument: String) throws -> NamedValue {
        guard let mark = argument.firstIndex(of: "="), mark > argument.startIndex else {
            throw ValidationError("\"\(argument)\" is no value: write owner=ada")
        }
        return NamedValue(name: String(argument[..<mark]), text: String(argument[argument.index(after: mark)...]))
    }
}
