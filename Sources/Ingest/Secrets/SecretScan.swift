import JSON

/// Finds the secrets of one JSON text by its tokens. Call `run` once; the bytes must outlive the scan.
struct SecretScan {
    /// The judgement of a value by all names above it, in ascending order of suspicion.
    private enum Standing: Int {
        case plain, suspicious
        /// A secret if the frame's op is IDENTIFY or RESUME. The op may come after the value.
        case gatewayToken
        case secret
    }

    /// An object or array that the scanner is in.
    private struct Container {
        let isObject: Bool
        /// The least standing of every value within.
        let inherited: Standing
        /// The name of the current member, decoded and normalized.
        var name = ""
        /// The standing that the current member's name gives its value; in an array, that of the next element.
        var standing = Standing.plain
        /// True if the container is the member `d` of the frame.
        var isGatewayData = false
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    /// True for gateway frames, the only ones whose `op` decides what a token is.
    private let isGateway: Bool
    /// Outermost first.
    private var containers: [Container] = []
    /// The places of secrets, in the order of the text.
    private var found: [SecretRange] = []
    /// The places that are secrets if the op may be IDENTIFY or RESUME.
    private var gatewayTokens: [SecretRange] = []
    /// The values of `op` in the outermost object, as they are written; a frame may name it twice.
    private var ops: [Substring] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, isGateway: Bool) {
        self.bytes = bytes
        self.isGateway = isGateway
    }

    /// The secrets found so far. All candidates count, because after a fault the op may be unknown.
    var placesSoFar: [SecretRange] { found + gatewayTokens }

    /// Reads the whole text and returns its secrets.
    mutating func run() throws(JSONError) -> [SecretRange] {
        let markLength = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var tokens = JSONTokens(bytes, from: markLength)
        while let token = try tokens.next() { take(token) }
        return opMayCarryToken ? placesSoFar : found
    }

    /// True unless every op is a plain number other than that of IDENTIFY (2) and RESUME (6).
    private var opMayCarryToken: Bool {
        ops.isEmpty || !ops.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isNumber) && $0 != "2" && $0 != "6" }
    }
}

extension SecretScan {
    private mutating func take(_ token: JSONToken) {
        switch token.kind {
        case .beginObject, .beginArray: open(isObject: token.kind == .beginObject)
        case .endObject, .endArray: containers.removeLast()
        case .name: takeName(token)
        case .string: takeString(token)
        case .number: takeNumber(token)
        case .literal: noteOp(token)
        }
    }

    /// Opens a container; everything within it inherits the standing of the member that it is the value of.
    private mutating func open(isObject: Bool) {
        let parent = containers.last
        let isData = isGateway && containers.count == 1 && parent?.isObject == true && parent?.name == "d"
        containers.append(Container(isObject: isObject, inherited: standing, isGatewayData: isData))
    }

    /// The standing of the next value: the more suspicious of what all names above it and its own name say.
    private var standing: Standing {
        guard let container = containers.last else { return .plain }
        return container.inherited.rawValue > container.standing.rawValue ? container.inherited : container.standing
    }

    /// Judges the name of a member, decoded, so that an escape hides nothing.
    private mutating func takeName(_ token: JSONToken) {
        guard let container = containers.last else { return }
        let name = SecretText(string: token, in: bytes).text
        let normal = SecretName.normalized(name)
        containers[containers.count - 1].name = normal
        containers[containers.count - 1].standing =
            switch SecretName(name) {
            case .secret: .secret
            case .suspicious: container.isGatewayData && normal == "token" ? .gatewayToken : .suspicious
            case .plain: .plain
            }
    }

    /// Takes a string value. A string that is no secret as a whole may still contain one, in a URL or a header.
    private mutating func takeString(_ token: JSONToken) {
        let place = SecretRange(range: token.range)
        switch standing {
        case .secret: found.append(place)
        case .gatewayToken: gatewayTokens.append(place)
        case .suspicious, .plain:
            let text = SecretText(string: token, in: bytes)
            if case .suspicious = standing, SecretName.looksLikeWebToken(text.text) {
                found.append(place)
            } else {
                found += text.parameters() + text.credentials()
            }
            noteOp(token)
        }
        noteHeader(token)
    }

    /// Takes a number value. A secret number leaves as a string, so that the rest still parses.
    private mutating func takeNumber(_ token: JSONToken) {
        let place = SecretRange(range: token.range, needsQuotes: true)
        switch standing {
        case .secret: found.append(place)
        case .gatewayToken: gatewayTokens.append(place)
        case .suspicious, .plain: noteOp(token)
        }
    }

    /// Notes the value of the frame's `op`, whatever it is: an odd one does not show that the frame is harmless.
    private mutating func noteOp(_ token: JSONToken) {
        guard isGateway, containers.count == 1, containers[0].isObject, containers[0].name == "op" else { return }
        ops.append(Substring(decoding: bytes[token.range], as: UTF8.self))
    }

    /// Notes a name in a list: in `["Authorization","Bearer …"]` the element after the name is the secret.
    private mutating func noteHeader(_ token: JSONToken) {
        guard let container = containers.last, !container.isObject else { return }
        let isName = SecretName(SecretText(string: token, in: bytes).text) == .secret
        containers[containers.count - 1].standing = isName ? .secret : .plain
    }
}
