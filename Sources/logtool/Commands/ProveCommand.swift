import ArgumentParser
import EventLog
import Projections

/// `logtool prove`: makes and checks proofs about a log.
struct ProveCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove",
        abstract: "Prove that an event is in a log, or that a log only grew; check such a proof without the log.",
        usage: """
            logtool prove LOG SEQ [--size N] [options]
            logtool prove LOG --consistency M N [options]
            logtool prove --check FILE [options]
            """,
        discussion: """
            Proofs are those of RFC 6962. A proof says something about the log whose root it names: compare that root \
            with one that you trust. Exit code 1 says that a proof does not hold, and why.
            """
    )

    static let examples = [
        Example("logtool prove chat.eventlog 17 --json > proof.json", "the event 17 is in the log"),
        Example("logtool prove --check proof.json", "is it? Needs nothing but the file"),
        Example("logtool prove chat.eventlog --consistency 100 200 --json", "the first 100 events were never altered"),
    ]

    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String?

    @Argument(help: ArgumentHelp("The event; of --consistency the two sizes.", valueName: "sequence"))
    var places: [String] = []

    @Option(help: ArgumentHelp("In the tree over the first so many events; default: all.", valueName: "n"))
    var size: UInt64?

    @Flag(help: "Prove that the log of the first size is a prefix of that of the second.")
    var consistency = false

    @Option(
        help: ArgumentHelp("Check the proof in a file; - is standard input.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var check: String?

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if check != nil {
            if log != nil || size != nil || consistency { throw ValidationError("--check takes no log") }
            return
        }
        guard log != nil else { throw ValidationError("name a log, or a proof with --check") }
        if consistency {
            guard places.count == 2, places.allSatisfy({ UInt64($0) != nil }) else {
                throw ValidationError("--consistency needs two sizes")
            }
            if size != nil { throw ValidationError("--consistency and --size exclude each other") }
        } else {
            guard places.count == 1 else { throw ValidationError("name one sequence") }
            _ = try PointArgument.parse(places[0])
        }
    }

    func run() throws {
        if let check { return try report(check) }
        let store = try EventStore.open(at: log ?? "")
        try store.read { session in
            if consistency {
                let sizes = places.compactMap { UInt64($0) }
                let proof = try ConsistencyProof(from: sizes[0], to: sizes[1], in: session)
                try print(proof.json, claim: proof.claim, path: proof.path)
            } else {
                let sequence = try PointArgument.parse(places[0]).resolve(in: session)
                let proof = try InclusionProof(of: sequence, size: size ?? session.head.rawValue, in: session)
                try print(proof.json, claim: proof.claim, path: proof.path)
            }
        }
    }

    private func print(_ json: JSONValue, claim: String, path: [Hash256]) throws {
        let output = output.standardOutput
        if document.json {
            try output.line(json.text)
        } else {
            try output.line(claim)
            for hash in path { try output.line("  \(hash)") }
        }
        try output.flush()
    }

    /// Reads a proof of either form and says whether it holds.
    private func report(_ file: String) throws {
        let value: JSONValue
        do {
            value = try JSONValue.parse(try InputFile.bytes(at: file))
        } catch let error as JSONError {
            throw Failure("check proof \"\(file)\": \(error)")
        }
        guard value["treeSize"] != nil || value["firstRoot"] != nil else {
            throw Failure("check proof \"\(file)\": it is none, as prove --json writes them")
        }
        let (claim, fault) = try Self.judgement(of: value, file: file)
        let output = output.standardOutput
        if document.json {
            let members: JSONObject = [
                "holds": .bool(fault == nil), "reason": .text(fault), "claim": .text(fault == nil ? claim : nil),
            ]
            try output.line(JSONValue.object(members).text)
        } else if fault == nil {
            try output.line("holds: \(claim)")
        }
        try output.flush()
        if let fault { throw Self.unproved(file, fault) }
    }

    private static func judgement(of value: JSONValue, file: String) throws -> (claim: String, fault: String?) {
        do {
            if value["firstRoot"] != nil {
                let proof = try ConsistencyProof(value)
                return (proof.claim, proof.fault)
            }
            let proof = try InclusionProof(value)
            return (proof.claim, proof.fault)
        } catch let fault as ExportedEvent.Fault {
            throw unproved(file, fault.description)
        } catch let error as EventLogError {
            throw unproved(file, error.reason)
        }
    }

    private static func unproved(_ file: String, _ reason: String) -> Failure {
        Failure("check proof \"\(file)\": it does not hold: \(reason)", exitCode: Outcome.no)
    }
}
