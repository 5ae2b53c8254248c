/// The judgement of a value by the name of its member or parameter.
enum SecretName {
    /// The name tells nothing of the value.
    case plain
    /// The value is a secret if it looks like a JSON Web Token.
    case suspicious
    /// The value is a secret.
    case secret

    /// In the form of `normalized`.
    private static let secrets: Set<String> = [
        "accesstoken", "refreshtoken", "apikey", "authorization", "proxyauthorization", "ckapitoken", "ckwebauthtoken",
    ]

    /// Judges a name. With `tokenIsSecret` a bare `token` names a secret, as in a URL.
    init(_ name: some Sequence<UInt8>, tokenIsSecret: Bool = false) {
        let normal = Self.normalized(name)
        if Self.secrets.contains(normal) || (tokenIsSecret && normal == "token") {
            self = .secret
        } else {
            self = normal.hasSuffix("token") || normal == "jwt" ? .suspicious : .plain
        }
    }

    /// A name in lower case, without `_` and `-`: services write `access_token`, `accessToken` and `Access-Token` for
    /// one thing.
    static func normalized(_ name: some Sequence<UInt8>) -> String {
        let kept = name.lazy.filter { $0 != 0x5F && $0 != 0x2D }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: Array(kept), as: UTF8.self)
    }

    /// True if a value has the form of a JSON Web Token (RFC 7519): three parts of base64url; the first begins with the
    /// encoding of `{"`.
    static func looksLikeWebToken(_ value: some Collection<UInt8>) -> Bool {
        guard value.starts(with: "eyJ".utf8) else { return false }
        let parts = value.split(separator: 0x2E, omittingEmptySubsequences: false)
        return parts.count == 3
            && parts.allSatisfy { $0.allSatisfy(isWebTokenByte) }
    }

    /// True for the bytes of a token's parts: those of base64url, and the padding.
    static func isWebTokenByte(_ byte: UInt8) -> Bool {
        SecretText.isNameByte(byte) || byte == 0x3D
    }
}
