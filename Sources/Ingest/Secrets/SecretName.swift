/// What a member's or parameter's name says about its value.
enum SecretName {
    /// Nothing.
    case plain
    /// A secret if it looks like a JSON Web Token.
    case suspicious
    /// A secret.
    case secret

    private static let secrets: Set<String> = [
        "accesstoken", "refreshtoken", "apikey", "authorization", "proxyauthorization", "ckapitoken", "ckwebauthtoken",
    ]

    /// Judges a name; `tokenIsSecret` says whether a bare `token` is one, as in a URL.
    init(_ name: some Sequence<UInt8>, tokenIsSecret: Bool = false) {
        let normal = Self.normalized(name)
        if Self.secrets.contains(normal) || (tokenIsSecret && normal == "token") {
            self = .secret
        } else {
            self = normal.hasSuffix("token") || normal == "jwt" ? .suspicious : .plain
        }
    }

    /// A name without case, `_` and `-`.
    static func normalized(_ name: some Sequence<UInt8>) -> String {
        let kept = name.lazy.filter { $0 != 0x5F && $0 != 0x2D }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: Array(kept), as: UTF8.self)
    }

    /// Whether a value has a JSON Web Token's form (RFC 7519): three parts of base64url, the first the encoding of `{"`.
    static func looksLikeWebToken(_ value: some Collection<UInt8>) -> Bool {
        guard value.starts(with: "eyJ".utf8) else { return false }
        let parts = value.split(separator: 0x2E, omittingEmptySubsequences: false)
        return parts.count == 3
            && parts.allSatisfy { $0.allSatisfy { SecretText.isNameByte($0) || $0 == 0x3D } }
    }
}
