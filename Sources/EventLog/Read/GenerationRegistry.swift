import Synchronization

/// Opens each generation of one log at most once in this process (I6). Keeps none of them open: a generation closes
/// with the last session or store that uses it.
final class GenerationRegistry: Sendable {
    private struct Weak {
        weak var generation: Generation?
    }

    let interner = LaneInterner()
    private let directory: LogDirectory
    private struct Open {
        var generations: [UInt32: Weak] = [:]
        /// How the pages of a generation are checked when it is opened.
        var pages: PageTrust
    }

    /// Held while a generation is opened and its pages are checked, so that two threads do not open the same one.
    private let open: Mutex<Open>
    private let mapBytes: Int

    init(directory: LogDirectory, mapBytes: Int, pages: PageTrust) {
        self.directory = directory
        self.mapBytes = mapBytes
        open = Mutex(Open(pages: pages))
    }

    /// For one more user of the registry: if it was made by one that checks pages itself, checks those of the open
    /// generations, and from now on those of each generation that is opened (I24).
    ///
    /// - Throws: as opening them would have done. Pages are then still believed.
    func share(_ pages: PageTrust) throws {
        try open.withLock { open in
            guard case .believed = open.pages.reason, case .checked(let check) = pages.inEnvironment else { return }
            for case let generation? in open.generations.values.map(\.generation) {
                try directory.naming(generation.number) { try generation.environment.checkPages(check) }
            }
            open.pages = pages
        }
    }

    /// The generation with a number, opened if it is not open. With `creates`, its empty directory exists and gets an
    /// environment.
    func generation(_ number: UInt32, creates: Bool = false) throws -> Generation {
        try open.withLock { open in
            if let generation = open.generations[number]?.generation { return generation }
            let generation =
                creates
                ? try Generation(
                    directory: directory,
                    number: number,
                    access: .create,
                    pages: .own,
                    lanes: interner,
                    mapBytes: mapBytes
                )
                : try Generation.open(
                    directory: directory,
                    number: number,
                    lanes: interner,
                    mapBytes: mapBytes,
                    pages: open.pages
                )
            // Forgets generations that are closed.
            open.generations = open.generations.filter { $0.value.generation != nil }
            open.generations[number] = Weak(generation: generation)
            return generation
        }
    }

    /// The newest generation: begins with the lowest number and follows the successors.
    ///
    /// - Throws: `EventLogError` with code `damaged` if a generation is missing.
    func newest() throws -> Generation {
        for _ in 0..<50 {
            do {
                guard let first = try directory.generations().first else { break }
                return try newest(from: first)
            } catch let error as LMDBError {
                // Another process may have removed a generation that was just replaced: look again.
                guard error.isNotFound else { throw error }
                pause(milliseconds: 10)
            }
        }
        throw try missing()
    }

    /// The error that names the file which is missing.
    private func missing() throws -> EventLogError {
        let numbers = try directory.generations()
        if let place = try numbers.first(where: { try directory.generation($0)?.status(of: Folder.dataFileName) == nil }
        ) {
            return directory.isMissing(place)
        }
        let reason =
            numbers.isEmpty
            ? "it has no data: no folder gen-NNNNNN is there"
            : "the generation that takes the place of \(directory.dataName(numbers[0])) is missing"
        return directory.damaged(reason, advice: "restore a backup")
    }

    private func newest(from first: UInt32) throws -> Generation {
        var generation = try generation(first)
        // A successor has a greater number, so that damaged values cannot lead in a circle.
        while let successor = try generation.read({ try $0.successor() }), successor > generation.number {
            generation = try self.generation(successor)
        }
        return generation
    }
}
