import ArgumentParser
import EventLog
import Projections
import Redaction
import Shipping

/// `logtool prove`: makes and checks proofs about a log.
///
/// Making a proof reads a log; checking one reads nothing but the file, so it works where the log is not. A proof shows
/// that an event is in *some* log: only a root from elsewhere shows in which.
struct ProveCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove",
        abstract: "Prove that an event is in a log, or that a log only grew; check such a proof without the log.",
        usage: """
            logtool prove LOG SEQ [--size N] [options]
            logtool prove LOG --consistency M N [options]
            logtool prove [LOG] --check FILE [options]
            """,
        discussion: """
            Proofs are those of RFC 6962. A proof says something about the log whose size and root it names: compare both \
            with ones that you trust. Of a redacted event the text is a substitute; the proof has the act that names it, \
            else the text is unproved. Exit code 1 says that a proof does not hold, or not for the text, and why. --check also \
            takes what history and audit print with --prove: it reads each entry out of the proved events again and names \
            those that show something else. What no proved event says is listed as not covered, such as a text before whose \
            event is not in the proof. No proof shows that nothing else was said before, between or afterwards. Of \
            the certificate that forget writes it checks the acts, and that what it says follows from what it counts; with \
            LOG also that the log has the acts.
            """
    )

    static let examples = [
        Example("logtool prove chat.eventlog 17 --json > proof.json", "the event 17 is in the log"),
        Example("logtool prove --check proof.json", "is it? Needs nothing but the file"),
        Example(
            "logtool history chat.eventlog message:0903-bob --json --prove | logtool prove --check -",
            "a whole history"
        ),
        Example(
            "logtool prove chat.eventlog 17 --checkpoint tree/checkpoint > 17.tlog-proof",
            "for programs of others, under a checkpoint that ship wrote"
        ),
        Example("logtool prove chat.eventlog --consistency 100 200 --json", "the first 100 events were never altered"),
    ]

    /// Not `LogOptions`: `--check` takes no log.
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String?

    /// Texts, because they are a point for one event and two sizes for `--consistency`.
    @Argument(help: ArgumentHelp("The event; of --consistency the two sizes.", valueName: "sequence"))
    var places: [String] = []

    @Option(help: ArgumentHelp("In the tree over the first so many events; default: all.", valueName: "n"))
    var size: UInt64?

    @Option(
        help: ArgumentHelp(
            "Write a proof as C2SP's tlog-proof has it, under this checkpoint of ship's.",
            valueName: "file"
        ),
        completion: .file()
    )
    var checkpoint: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "With --check of a tlog-proof: whose signature it must have; may be given often.",
            valueName: "key"
        )
    )
    var verifier: [String] = []

    @Flag(help: "Prove that the log of the first size is a prefix of that of the second.")
    var consistency = false

    @Option(
        help: ArgumentHelp("Check the proof in a file; - is standard input.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var check: String?

    /// A substitute is not what the remote sent. Without the act that names it, even its bytes could be anyone's; this
    /// accepts that.
    @Flag(help: "With --check: a redacted event's envelope is enough, its text need not be proved.")
    var envelope = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Parses points and sizes once, so that a mistake does not wait for the log to be opened.
    func validate() throws {
        if check != nil {
            if size != nil || consistency || checkpoint != nil || !places.isEmpty {
                throw ValidationError("--check takes no sequence and no size")
            }
            return
        }
        if !verifier.isEmpty { throw ValidationError("--verifier goes with --check") }
        if checkpoint != nil, consistency || size != nil || document.json {
            throw ValidationError("--checkpoint says the size, and the form")
        }
        if envelope { throw ValidationError("--envelope goes with --check") }
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

    /// - Throws: `EventLogError` with code `notFound` (exit 1) if the event or a size lies beyond the log or the tree,
    ///   with `damaged` (exit 3) if the proof that was made does not hold. With `--check` as `report`.
    func run() throws {
        if let check { return try report(check) }
        // `validate` has refused a command line without a log.
        let store = try EventStore.open(at: log ?? "")
        try store.read { session in
            if consistency {
                let sizes = places.compactMap { UInt64($0) }
                let proof = try ConsistencyProof(from: sizes[0], to: sizes[1], in: session)
                try print(proof.json, claim: proof.claim, path: proof.path)
            } else {
                let sequence = try PointArgument.parse(places[0]).resolve(in: session)
                if let checkpoint { return try printTlogProof(of: sequence, under: checkpoint, session) }
                let proof = try InclusionProof(of: sequence, size: size ?? session.head.rawValue, in: session)
                try print(proof.json, claim: proof.claim, path: proof.path)
            }
        }
    }

    /// Prints a proof: for people the claim and the hashes of the path, from the leaf up. Only JSON can be checked
    /// again.
    private func print(_ json: [UInt8], claim: String, path: [Hash256]) throws {
        let output = output.standardOutput
        if document.json {
            try output.line(String(decoding: json, as: UTF8.self))
        } else {
            try output.line(claim)
            for hash in path { try output.line("  \(hash)") }
        }
        try output.flush()
    }

    /// Reads a proof of either form, of one event or log or of many entries, and checks it. Opens no log.
    ///
    /// - Throws: `Failure` with exit code 1 if the proof does not hold, with 2 if the file is no proof.
    private func report(_ file: String) throws {
        let bytes = try InputFile.bytes(at: file)
        if TlogProof.isProof(bytes), log == nil { return try reportTlogProof(bytes, file) }
        if !verifier.isEmpty { throw Failure("check proof \"\(file)\": it has no signature; leave out --verifier") }
        if let certificate = CertificateCheck(bytes) { return try report(certificate, file) }
        guard log == nil else {
            throw Failure(
                "check proof \"\(file)\": only a certificate of forget is compared with a log; leave out the log"
            )
        }
        // Documents of `history` and `audit` have proofs within their entries; a bare proof has none, and is tried
        // next.
        if let entries = ProvedEntries(bytes, forEnvelope: envelope, read: EntryProof.check) {
            return try report(entries, file)
        }
        let check = try self.check(bytes, file)
        let holds = check.holds(forEnvelope: envelope)
        let output = output.standardOutput
        if document.json {
            try output.line(JSONValue.object(check.json(forEnvelope: envelope)).text)
        } else if holds {
            try output.line("holds: \(check.claim)")
        }
        try output.flush()
        guard holds else {
            // Without a fault the hashes hold, and only the text of a redacted event is unproved.
            let advice = check.fault == nil ? "; to ask for the envelope alone: --envelope" : ""
            let words = check.fault == nil ? check.reason : "it does not hold: \(check.reason)"
            throw Failure("check proof \"\(file)\": \(words)\(advice)", exitCode: Outcome.no)
        }
    }

    /// Says whether a certificate holds, and whether the log has its acts, if one is named.
    ///
    /// - Throws: `Failure` with exit code 1 if it does not. One that says that something is left holds.
    private func report(_ certificate: CertificateCheck, _ file: String) throws {
        var certificate = certificate
        if let log { try EventStore.open(at: log).read { try certificate.check(against: $0) } }
        let output = output.standardOutput
        if document.json {
            try output.line(
                JSONValue.object([
                    "holds": .bool(certificate.fault == nil), "reason": .text(certificate.fault),
                    "claim": certificate.fault == nil ? .string(certificate.claim) : nil,
                    "complete": certificate.fault == nil ? .bool(certificate.isComplete) : nil,
                    "scanned": certificate.fault == nil ? .bool(certificate.isScanned) : nil,
                ]).text
            )
        } else if certificate.fault == nil {
            try output.line("holds: \(certificate.claim)")
        }
        try output.flush()
        if let fault = certificate.fault {
            throw Failure("check certificate \"\(file)\": it does not hold: \(fault)", exitCode: Outcome.no)
        }
    }

    /// Reads a bare proof.
    ///
    /// - Throws: `Failure` with exit code 2 if the file is no proof. One that does not hold is an answer, not an error.
    private func check(_ bytes: [UInt8], _ file: String) throws -> ProofCheck {
        do {
            return try ProofCheck(bytes)
        } catch let fault as ExportFault {
            throw Failure("check proof \"\(file)\": \(fault)")
        }
    }

    /// Says whether the entries of a history or an audit are proved.
    ///
    /// - Throws: `Failure` with exit code 1 that names the first entries that are not proved.
    private func report(_ entries: ProvedEntries, _ file: String) throws {
        let output = output.standardOutput
        if document.json {
            try output.line(JSONValue.object(entries.json).text)
        } else if entries.holds {
            try output.line("holds: \(entries.claim); what they show is what these events say")
            for line in entries.gaps { try output.line("not covered: \(line)") }
        }
        try output.flush()
        if !entries.holds { throw Failure("check proof \"\(file)\": \(entries.reason)", exitCode: Outcome.no) }
    }
}
