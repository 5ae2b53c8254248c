import JSON

/// A tool that an agent may call: one command of this program, with the options that its parameters stand for.
struct AgentTool: Sendable {
    /// What a parameter becomes on the command line. A value is always one argument that begins with the option's name, or stands
    /// behind `--`: no text of an agent is taken for an option.
    enum Place: Sendable {
        /// `--name=VALUE`.
        case option(String)
        /// `--name`, if the value is true.
        case flag(String)
        /// Behind all options.
        case argument
        /// `@VALUE` behind the log, of the first or the second of two states.
        case point(Int)
        /// `#VALUE` behind the log, of the second of two states.
        case profile
        /// The text of a file, which the command reads on standard input.
        case input
        /// The name of what is written into the folder.
        case name
    }

    enum Kind: String, Sendable {
        case string, integer, boolean
    }

    struct Parameter: Sendable {
        let name: String
        let kind: Kind
        let place: Place
        let description: String
        var isRequired = false
    }

    let name: String
    let description: String
    /// The words in front of the log.
    let command: [String]
    /// The options that every call has.
    let fixed: [String]
    let parameters: [Parameter]
    /// Whether it takes two states of the log, as `diff` does.
    var isOfTwo = false
    /// Whether it writes a file or a folder, which the client confirms.
    var writes = false

    /// The tool as `tools/list` has it.
    func listed(logs: [String]) -> JSONValue {
        var properties: [JSONObject.Member] = []
        if logs.count > 1 {
            let names = JSONValue.array(logs.map { .string($0) })
            let schema: JSONObject = [
                "type": .string("string"), "enum": names, "description": .string("Which log."),
            ]
            properties.append(JSONObject.Member(name: "log", value: .object(schema)))
        }
        for parameter in parameters {
            let schema: JSONObject = [
                "type": .string(parameter.kind.rawValue), "description": .string(parameter.description),
            ]
            properties.append(JSONObject.Member(name: parameter.name, value: .object(schema)))
        }
        let cursor: JSONObject = [
            "type": .string("string"),
            "description": .string("Goes on with an earlier answer: the cursor that it gave, and nothing else."),
        ]
        properties.append(JSONObject.Member(name: "cursor", value: .object(cursor)))
        return .object([
            "name": .string(name),
            "description": .string(description),
            "inputSchema": .object([
                "type": .string("object"), "properties": .object(JSONObject(distinct: properties)),
                "additionalProperties": .bool(false),
            ]),
            "annotations": .object([
                "readOnlyHint": .bool(!writes), "destructiveHint": .bool(false), "openWorldHint": .bool(false),
            ]),
        ])
    }

    /// The command line of a call.
    ///
    /// - Parameters:
    ///   - output: the options for what is written under a name.
    /// - Returns: the arguments, and what the command reads on standard input.
    /// - Throws: `AgentFault` for a parameter that is missing, unknown or of another type.
    func line(
        _ given: JSONObject,
        log: String,
        output: (String) throws -> [String]
    ) throws -> (arguments: [String], input: String?) {
        let known = parameters.map(\.name) + ["log", "cursor"]
        if let other = given.members.first(where: { !known.contains($0.name) }) {
            throw AgentFault("\(name) has no parameter \"\(other.name)\"; it has \(known.joined(separator: ", "))")
        }
        var (options, behind): ([String], [String]) = (fixed, [])
        var input: String?
        var states = isOfTwo ? [log, log] : [log]
        for parameter in parameters {
            guard let value = given[parameter.name], !value.isNull else {
                guard !parameter.isRequired else { throw AgentFault("\(name) needs \(parameter.name)") }
                continue
            }
            let text = try self.text(value, of: parameter)
            switch parameter.place {
            case .option(let option): options.append("\(option)=\(text)")
            case .flag(let option): if value.bool == true { options.append(option) }
            case .argument: behind.append(text)
            case .point(let state): states[state] += "@\(text)"
            case .profile: states[states.count - 1] += "#\(text)"
            case .input: input = text
            case .name: options += try output(text)
            }
        }
        return (command + options + ["--"] + (input == nil ? [] : ["-"]) + states + behind, input)
    }

    /// The value of a parameter as a text of the command line.
    private func text(_ value: JSONValue, of parameter: Parameter) throws -> String {
        let text: String? =
            switch parameter.kind {
            case .string: value.string
            case .integer: value.number?.int64.map { "\($0)" }
            case .boolean: value.bool.map { "\($0)" }
            }
        guard let text else { throw AgentFault("\(name): \(parameter.name) is \(parameter.kind.words)") }
        guard !text.utf8.contains(0) else { throw AgentFault("\(name): \(parameter.name) has a zero byte") }
        return text
    }
}

extension AgentTool.Kind {
    fileprivate var words: String {
        switch self {
        case .string: "a text"
        case .integer: "a whole number"
        case .boolean: "true or false"
        }
    }
}

/// Why a call cannot be carried out, in words for the agent.
struct AgentFault: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
