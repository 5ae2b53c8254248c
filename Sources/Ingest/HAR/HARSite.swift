/// A site by its host: the host itself and those below it, so `example.org` has `chat.example.org`.
struct HARSite: Equatable {
    let host: String

    /// - Parameter host: without a port; upper case counts as lower case.
    init(_ host: String) {
        self.host = host.lowercased()
    }

    /// True if a host, in lower case, is the site's.
    func has(_ other: String) -> Bool {
        other == host || other.hasSuffix("." + host)
    }
}
