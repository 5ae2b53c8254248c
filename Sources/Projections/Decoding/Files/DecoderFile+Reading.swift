extension DecoderFile {
    /// Reads a decoder file: YAML within the limits of `YAMLDocument`, at most `bytesMax` bytes.
    ///
    /// - Throws: `DecoderFileError` for the first thing that is wrong.
    public convenience init(_ text: String) throws(DecoderFileError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw DecoderFileError(nil, "the file has more than \(Self.bytesMax) bytes")
        }
        let root: YAMLNode
        do throws(YAMLDocument.Fault) {
            root = try YAMLDocument.node(of: text)
        } catch {
            throw DecoderFileError(error.line, "it \(error.reason)")
        }
        var reader = DecoderFileReader()
        try self.init(reader.file(root), text)
    }

    private convenience init(_ parts: DecoderFileReader.Parts, _ text: String) throws(DecoderFileError) {
        self.init(
            name: parts.name,
            text: text,
            app: parts.app,
            envelope: parts.envelope,
            absences: parts.absences,
            dedupe: parts.dedupe,
            order: parts.order,
            rules: parts.rules,
            observed: parts.observed,
            samples: parts.samples
        )
    }
}
