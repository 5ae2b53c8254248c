public import Testing

extension Collection {
    /// The element so many places behind the first one.
    ///
    /// A subscript past the end would end the process, and with it all other tests. Here the test alone ends.
    public func at(_ place: Int, sourceLocation: SourceLocation = #_sourceLocation) throws -> Element {
        try #require(dropFirst(place).first, "\(count) elements, none at \(place)", sourceLocation: sourceLocation)
    }
}
