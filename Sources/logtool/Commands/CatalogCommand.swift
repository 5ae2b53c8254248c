import ArgumentParser
import EventLog
import JSON
import Projections
import Shipping

/// `logtool catalog`: lists the logs and trees of a folder, or the trees of a web server.
struct CatalogCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: "List the logs and trees of a folder: how far each is, and how long ago that was.",
        usage: "logtool catalog FOLDER|URL [options]",
        discussion: """
            A tree is what ship writes; of each the checkpoint is read, and its signature checked where --verifier is given. What \
            cannot be read is listed with the reason, and the exit code is 1. A web server cannot list a folder: --write puts a \
            list of the trees into it, as catalog.json, for catalog URL and for pull --all.
            """
    )

    static let examples = [
        Example("logtool catalog year", "the logs of a folder"),
        Example("logtool catalog trees --write", "the trees of a folder, listed for readers of a web server"),
        Example("logtool catalog https://logs.example.org --json", "the trees that a server lists"),
    ]

    @Argument(
        help: ArgumentHelp("The folder that has the logs or trees, or its URL.", valueName: "folder"),
        completion: .directory
    )
    var folder: String

    @Flag(help: "Write catalog.json: the trees that can be read.")
    var write = false

    @OptionGroup(title: "Options of trees") var tree: TreeOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if write, TreeOptions.isURL(folder) {
            throw ValidationError("--write goes with a folder; other tools carry it to a server")
        }
    }

    /// - Throws: `Outcome.no` if something cannot be read, after the list; `Failure` with exit code 1 if there is nothing to list.
    ///   `EventLogError`: `io` (exit 2) if there is no folder; as `TreeCatalog.entries` for a URL.
    func run() throws {
        // One instant for all, so that their ages can be compared.
        let now = SystemClock.now
        let progress = output.progress("looking at logs and trees")
        let verifiers = try tree.verifiers()
        let catalog =
            try TreeOptions.isURL(folder)
            ? Catalog(of: tree.source(folder, operation: "catalog"), verifiers: verifiers)
            : Catalog(ofFolderAt: folder, verifiers: verifiers)
        progress.end()
        if write { try TreeCatalog.write(catalog.entries.compactMap(\.listed), toFolderAt: folder) }
        let standard = output.standardOutput
        try CatalogPrinter(output: standard, entries: catalog.entries, now: now).print(lists.form)
        try standard.flush()
        if catalog.entries.isEmpty {
            throw Failure(
                "list \"\(folder)\": it has neither a log nor a tree; name a folder whose entries are some",
                exitCode: Outcome.no
            )
        }
        for case .failure in catalog.entries.map(\.contents) { throw Outcome.no }
    }
}
