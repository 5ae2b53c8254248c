import ArgumentParser
import EventLog
import JSON
import Projections
import Shipping

/// `pull --all`: every tree that lies beside others, each into a log of its name.
extension PullCommand {
    /// What became of one tree.
    private struct PulledTree {
        let name: String
        let result: Result<LogPull.Result, any Error>

        var exitCode: Int32 {
            guard case .failure(let error) = result else { return 0 }
            return Failure.exitCode(for: error).rawValue
        }
    }

    /// Exit codes, the worst first: damage, trouble, what waits for a word of the user, what another process does, what is still to arrive.
    private static let severity: [Int32] = [3, 2, 4, 10, 11, 1]

    /// Pulls all trees, one after another. A tree that fails does not stop the others.
    ///
    /// - Throws: the worst `ExitCode`; `Failure` with exit code 1 if there is no tree; as `TreeCatalog.entries` if the catalogue cannot be
    ///   read, before anything is pulled.
    func pullAll(from base: any TreeSource) throws {
        let names =
            try TreeOptions.isURL(from)
            ? TreeCatalog.entries(of: base).map(\.name) : TreeCatalog.names(inFolderAt: from)
        if names.isEmpty {
            throw Failure(
                "pull all trees of \"\(from)\": there is none; logtool ship LOG --to FOLDER makes one",
                exitCode: Outcome.no
            )
        }
        let target = try folder()
        let standard = output.standardOutput
        var outcomes: [PulledTree] = []
        for name in names {
            let outcome = PulledTree(name: name, result: Result { try pull(name, of: base, into: target) })
            outcomes.append(outcome)
            if document.json { continue }
            // At once, because the next tree may take long.
            try standard.line(line(outcome))
            try standard.flush()
        }
        if document.json { try standard.line(JSONValue.array(outcomes.map { .object(json($0)) }).lines) }
        let failed = outcomes.count { $0.exitCode != 0 }
        if !document.json {
            let others = failed > 0 ? ", \(failed) not" : ""
            try standard.line("\(counted(outcomes.count - failed, "tree")) pulled\(others)")
        }
        try standard.flush()
        let codes = Set(outcomes.map(\.exitCode)).subtracting([0])
        guard let worst = Self.severity.first(where: codes.contains) ?? codes.max() else { return }
        throw ExitCode(worst)
    }

    /// The folder of the logs, made if it is missing.
    private func folder() throws -> Folder {
        let path = to ?? ""
        if Directory.resolved(path) == nil {
            let place = Directory.split(path)
            _ = try Folder(at: place.parent).folderMadeIfMissing(place.name)
        }
        return try Folder(at: path)
    }

    /// Pulls one tree. Its name comes from elsewhere, so it is checked, and no link at its place is followed.
    private func pull(_ name: String, of base: any TreeSource, into target: Folder) throws -> LogPull.Result {
        guard TreeCatalog.isName(name) else {
            throw Failure(
                "pull \"\(name)\": a tree that is pulled with others has a name of letters, digits, \".\", \"_\" and \"-\"; rename its folder, or "
                    + "pull it alone"
            )
        }
        switch try target.kind(of: name) {
        case .nothing, .folder: break
        case .file, .foreign:
            throw Failure(
                "pull into \"\(target.path(of: name))\": what is there is no folder; take it away, or say another --to"
            )
        }
        return try result(from: NeighbourTree(name, of: base), into: target.path(of: name))
    }

    private func line(_ outcome: PulledTree) -> String {
        let name = DisplayText.escaped(outcome.name)
        switch outcome.result {
        case .success(let result): return "\(name): \(text(result))"
        case .failure(let error): return "\(name): not pulled: \(Failure.text(of: error))"
        }
    }

    private func json(_ outcome: PulledTree) -> JSONObject {
        var json: JSONObject = ["name": .string(outcome.name)]
        switch outcome.result {
        case .success(let result): for member in self.json(result).members { json[member.name] = member.value }
        case .failure(let error):
            json["error"] = .string(Failure.text(of: error))
            json["exitCode"] = .int(Int(outcome.exitCode))
        }
        return json
    }
}
