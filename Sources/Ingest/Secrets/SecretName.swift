import JSON

/// The judgement of a value by the name of its member or parameter (docs/events.md, "Secrets").
enum SecretName {
    /// The name tells nothing of the value.
    case plain
    /// The value is a secret if it looks like a JSON Web Token.
    case suspicious
    /// The value is a secret.
    case secret

    /// In the form of `normalized`. Each is a name that services give to secrets alone: `key` and `signature`, for
    /// instance, also name things that a replay needs.
    private static let secrets: Set<String> = [
        "accesstoken", "refreshtoken", "authtoken", "xauthtoken", "sessiontoken", "securitytoken", "xamzsecuritytoken",
        "apikey", "xapikey", "authorization", "proxyauthorization", "clientsecret", "secretaccesskey", "password",
        "passwd", "cookie", "setcookie", "ckapitoken", "ckwebauthtoken", "webauthtoken",
    ]
    /// Names of secrets in a URL's query alone; in a document they name something else, too.
    private static let parameters: Set<String> = ["token", "sig", "signature", "xamzsignature", "xgoogsignature"]
    /// Secret names that people also write before a colon in a sentence.
    private static let words: Set<String> = ["password", "passwd", "cookie", "setcookie"]

    /// Judges a name. With `tokenIsSecret` a bare `token` names a secret.
    init(_ name: some Sequence<UInt8>, tokenIsSecret: Bool = false) {
        self.init(normal: Self.normalized(name), tokenIsSecret: tokenIsSecret)
    }

    /// Judges a name in the form of `normalized`.
    init(normal: String, tokenIsSecret: Bool = false) {
        if Self.secrets.contains(normal) || tokenIsSecret && normal == "token" {
            self = .secret
        } else {
            self = normal.hasSuffix("token") || normal == "jwt" ? .suspicious : .plain
        }
    }

    /// Judges the name of a parameter in a URL's query.
    init(parameter name: some Sequence<UInt8>) {
        let normal = Self.normalized(name)
        self = Self.parameters.contains(normal) ? .secret : SecretName(normal: normal)
    }

    /// True for a name that is also an everyday word, in the form of `normalized`.
    static func isWord(_ normal: String) -> Bool { words.contains(normal) }

    /// A name in lower case, without `_`, `-`, `.` and spaces: services write `access_token`, `accessToken`,
    /// `Access-Token` and `access.token` for one thing.
    static func normalized(_ name: some Sequence<UInt8>) -> String {
        let kept = name.lazy.filter { !isSeparator($0) && $0 != 0x2E && $0 != 0x20 }
            .map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: Array(kept), as: UTF8.self)
    }

    /// True for `_` and `-`, which may stand anywhere in a name.
    static func isSeparator(_ byte: UInt8) -> Bool { byte == 0x5F || byte == 0x2D }

    /// True if a value has the form of a JSON Web Token (RFC 7519): three parts of base64url; the first begins with the
    /// encoding of `{"`.
    static func looksLikeWebToken(_ value: some Collection<UInt8>) -> Bool {
        guard value.starts(with: "eyJ".utf8) else { return false }
        let parts = value.split(separator: 0x2E, omittingEmptySubsequences: false)
        return parts.count == 3
            && parts.allSatisfy { $0.allSatisfy(isWebTokenByte) }
    }

    /// True if a value is a JSON Web Token, whatever its name: its form is that of `looksLikeWebToken`, and the first
    /// part decodes to a JSON object with a member `alg`.
    static func isWebToken(_ value: ArraySlice<UInt8>) -> Bool {
        guard looksLikeWebToken(value) else { return false }
        return isWebTokenHeader(value.prefix { $0 != 0x2E })
    }

    /// True if the first part of a value is that of a JSON Web Token.
    static func isWebTokenHeader(_ part: ArraySlice<UInt8>) -> Bool {
        guard part.starts(with: "eyJ".utf8), part.count <= headerBytesMax else { return false }
        // From base64url to base64 with padding (RFC 4648, sections 4 and 5).
        var text = part.map { $0 == 0x2D ? 0x2B : $0 == 0x5F ? 0x2F : $0 }
        text += repeatElement(0x3D, count: (4 - text.count % 4) % 4)
        guard let header = text.withUnsafeBytes({ Base64.decode($0) }) else { return false }
        return JSONValue(received: header)?["alg"]?.string != nil
    }

    /// The longest first part that is decoded, in bytes.
    private static let headerBytesMax = 8_192

    /// True for the bytes of a token's parts: those of base64url, and the padding.
    static func isWebTokenByte(_ byte: UInt8) -> Bool {
        SecretText.isNameByte(byte) || byte == 0x3D
    }
}
