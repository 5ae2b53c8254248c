/// Writes the document of a branch whose new tip does not follow from new commits alone.
struct GitRewriteReader {
    let repository: GitRepository

    /// The net change from the old tip's tree to the new tip's. If the repository no longer has the old tip, the change
    /// is that from the empty tree.
    ///
    /// - Throws: `IngestError` with code `brokenRepository` if an object is missing.
    func document(from old: String, to tip: String) throws -> [UInt8] {
        let oldIsThere = try repository.hasCommit(old)
        let process = try repository.diff(from: oldIsThere ? old : nil, to: tip)
        let changes = try process.output.readChanges()
        let ending = process.finish()
        guard let changes, ending.status == 0 else {
            throw repository.broken("compare \(old) and \(tip): \(ending.reason)")
        }
        var document = GitDocument()
        document.addRewrite(from: old, to: tip, fromIsMissing: !oldIsThere, changes: changes)
        try addFiles(changes.filter { $0.to != nil }, to: &document)
        return document.bytes
    }

    private func addFiles(_ files: [GitChange], to document: inout GitDocument) throws {
        let objects = try repository.startObjects()
        let blobs = files.compactMap(\.to).filter { !$0.isSubmodule }
        // All requests at once: the writer's own thread keeps them, one line for each file.
        objects.submit(Array(blobs.map { "\($0.object)\n" }.joined().utf8))
        objects.finishInput()
        let reader = GitObjectReader(output: objects.output)
        try document.addFiles(files) { object, sizeMax in
            guard let blob = try reader.blob(sizeMax: sizeMax) else {
                throw repository.broken("read a file of the branch's tip: object \(object) is missing")
            }
            return blob
        }
    }
}
