import EventLog
import Projections
import Reduction

extension BisectCommand {
    /// `--observed`: compares the observations of clients in order, and prints the first one that differs.
    ///
    /// - Throws: `Outcome.no` if all agree, or there is none; the printed reason is then on standard output.
    func printFirstObserved(
        _ store: EventStore,
        _ good: SequenceNumber,
        _ bad: SequenceNumber?,
        _ options: ReplayOptions
    ) throws {
        let progress = output.progress("comparing observations")
        let search = try ObservedSearch(
            of: store,
            lag: lag ?? ObservedSearch.lag,
            after: good,
            through: bad,
            options: options
        )
        if let fault = search.faults.first, !output.quiet {
            progress.end()
            StandardError.line(
                DisplayText.escaped(
                    "logtool: \(counted(search.faults.count, "observation")) cannot be read; the first is event \(fault.event): "
                        + fault.reason
                )
            )
        }
        let finding = try search.first { progress.report("comparing", done: $0, total: search.count) }
        progress.end()
        let output = output.standardOutput
        guard let finding else {
            let isNone = search.count + search.faults.count == 0
            let unread = search.faults.isEmpty ? "" : ", \(search.faults.count) cannot be read"
            let reason =
                isNone
                ? "nothing found: no client has said what it shows; see docs/observed.md"
                : "nothing found: the state agrees with \(counted(search.count, "observation"))\(unread)"
            try output.line(document.json ? search.document(reason: reason).text : reason)
            try output.flush()
            throw Outcome.no
        }
        let printer = ObservedPrinter(output: output, log: log.path, form: document.json ? .document : .text)
        try printer.print(finding, event: event(finding.event, of: store))
        try output.flush()
    }

    /// An event and its bytes, checked against its leaf hash (I7).
    private func event(
        _ sequence: SequenceNumber?,
        of store: EventStore
    ) throws -> (envelope: Envelope, payload: [UInt8])? {
        guard let sequence else { return nil }
        var found: (envelope: Envelope, payload: [UInt8])?
        try store.read { session in
            try session.forEachEvent(in: sequence...sequence) { event in
                try session.check(event)
                found = (event.envelope, event.withPayload { Array($0) })
                return true
            }
        }
        return found
    }
}

extension ObservedSearch {
    /// What a search without a finding says to programs.
    fileprivate func document(reason: String) -> JSONValue {
        .object([
            "observations": .int(count), "unread": faults.isEmpty ? nil : .int(faults.count),
            "reason": .string(reason),
        ])
    }
}
