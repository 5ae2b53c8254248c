import JSON

/// Finds the secrets of one JSON text by its tokens. Call `run` once; the bytes must outlive the scan.
///
/// A string that is a JSON text itself is searched in the same way, to a depth of `depthMax`.
struct SecretScan {
    /// The judgement of a value by all names above it, in ascending order of suspicion.
    private enum Standing: Int {
        case plain, suspicious
        /// A secret if the frame's op is IDENTIFY or RESUME. The op may come after the value.
        case gatewayToken
        case secret
        /// A secret that the user declared, also if it is `true`, `false` or `null`.
        case declared
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
        /// True if a member `name` or `key` is the name of a secret; the member `value` is then one.
        var isNamedSecret = false
        /// The values of members `value` that came so far.
        var values: [SecretRange] = []
        /// The user's pointers that lead into the container, as indexes.
        var pointers: [Int] = []
        /// Those of them that lead to the current value or into it.
        var leading: [Int] = []
        /// True if a pointer leads to the current value.
        var isPointedAt = false
        /// The number of elements so far.
        var elements = 0
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    /// True for gateway frames, the only ones whose `op` decides what a token is.
    private let isGateway: Bool
    private let rules: SecretRules
    /// How many strings the text lies in.
    private let depth: Int
    /// Outermost first.
    private var containers: [Container] = []
    /// The places of secrets.
    private var found: [SecretRange] = []
    /// The places that are secrets if the op may be IDENTIFY or RESUME.
    private var gatewayTokens: [SecretRange] = []
    /// The values of `op` in the outermost object, as they are written; a frame may name it twice.
    private var ops: [Substring] = []

    /// The deepest JSON text in a string of a JSON text in a string … that is searched by its structure.
    private static let depthMax = 8

    init(_ bytes: UnsafeBufferPointer<UInt8>, isGateway: Bool, rules: SecretRules = .common, depth: Int = 0) {
        self.bytes = bytes
        self.isGateway = isGateway
        self.rules = rules
        self.depth = depth
    }

    /// The secrets found so far. All candidates count, because after a fault the op may be unknown.
    var placesSoFar: [SecretRange] { found + gatewayTokens }

    /// The places of all numbers of a JSON text; none if it is no such text.
    static func numbers(in bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        var tokens = JSONTokens(bytes, from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        var numbers: [Range<Int>] = []
        do throws(JSONError) {
            while let token = try tokens.next() { if token.kind == .number { numbers.append(token.range) } }
        } catch {
            return []
        }
        return numbers
    }

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
        case .endObject, .endArray: return close()
        case .name: return takeName(token)
        case .beginObject, .beginArray, .string, .number, .literal: beginElement()
        }
        switch token.kind {
        case .beginObject, .beginArray: open(isObject: token.kind == .beginObject)
        case .string: takeString(token)
        case .number: takeNumber(token)
        default: takeLiteral(token)
        }
    }

    /// Opens a container; everything within it inherits the standing of the member that it is the value of.
    private mutating func open(isObject: Bool) {
        let parent = containers.last
        let isData = isGateway && containers.count == 1 && parent?.isObject == true && parent?.name == "d"
        var container = Container(isObject: isObject, inherited: standing, isGatewayData: isData)
        container.pointers = parent?.leading ?? (depth == 0 ? Array(rules.own.pointers.indices) : [])
        containers.append(container)
    }

    /// Closes a container. Of an object such as `{"value":"…","name":"Authorization"}` the value is now known to be a
    /// secret.
    private mutating func close() {
        guard let container = containers.popLast(), container.isNamedSecret else { return }
        found += container.values
    }

    /// The standing of the next value: the more suspicious of what all names above it and its own name say.
    private var standing: Standing {
        guard let container = containers.last else { return .plain }
        if container.isPointedAt { return .declared }
        return container.inherited.rawValue > container.standing.rawValue ? container.inherited : container.standing
    }

    /// Judges the name of a member, decoded, so that an escape hides nothing.
    private mutating func takeName(_ token: JSONToken) {
        guard let container = containers.last else { return }
        let name = SecretText(string: token, in: bytes).text
        let normal = SecretName.normalized(name)
        containers[containers.count - 1].name = normal
        containers[containers.count - 1].standing =
            if rules.owns(normal) {
                .declared
            } else if normal == "value", container.isNamedSecret {
                .secret
            } else {
                switch rules.judge(normal: normal) {
                case .secret: .secret
                case .suspicious: container.isGatewayData && normal == "token" ? .gatewayToken : .suspicious
                case .plain: .plain
                }
            }
        follow(container.pointers, by: name)
    }

    /// Counts an element of an array, and follows the user's pointers to it.
    private mutating func beginElement() {
        guard let container = containers.last, !container.isObject, !container.pointers.isEmpty else { return }
        containers[containers.count - 1].elements += 1
        follow(container.pointers, by: Array(String(container.elements).utf8))
    }

    /// Keeps the pointers that go on with a reference token.
    private mutating func follow(_ pointers: [Int], by token: [UInt8]) {
        guard !pointers.isEmpty else { return }
        let place = containers.count - 1
        let leading = pointers.filter { rules.own.pointers[$0][place].utf8.elementsEqual(token) }
        containers[place].isPointedAt = leading.contains { rules.own.pointers[$0].count == place + 1 }
        containers[place].leading = leading.filter { rules.own.pointers[$0].count > place + 1 }
    }

    /// Takes a string value. A string that is no secret as a whole may still contain one, in a URL or a header.
    private mutating func takeString(_ token: JSONToken) {
        let place = SecretRange(range: token.range)
        switch standing {
        case .secret, .declared: found.append(place)
        case .gatewayToken: gatewayTokens.append(place)
        case .suspicious, .plain: takeText(token, place)
        }
        noteHeader(token)
    }

    private mutating func takeText(_ token: JSONToken, _ place: SecretRange) {
        let text = SecretText(string: token, in: bytes)
        if rules.hasCommon,
            standing == .suspicious && SecretName.looksLikeWebToken(text.text) || SecretName.isWebToken(text.text[...])
        {
            found.append(place)
        } else {
            found += secrets(within: text)
        }
        noteOp(token)
        notePair(place, text)
    }

    /// The secrets within a string: those of the JSON text that it is, else those of its URLs and headers.
    private func secrets(within text: SecretText) -> [SecretRange] {
        guard depth < Self.depthMax, text.mayBeJSON else { return text.secrets(rules) }
        return text.text.withUnsafeBufferPointer { inner in
            var scan = SecretScan(inner, isGateway: isGateway, rules: rules, depth: depth + 1)
            do throws(JSONError) {
                return try scan.run().map(text.inText)
            } catch {
                return scan.placesSoFar.map(text.inText) + text.quotedMembers(rules)
            }
        }
    }

    /// Takes a number value. A secret number leaves as a string, so that the rest still parses.
    private mutating func takeNumber(_ token: JSONToken) {
        let place = SecretRange(range: token.range, quoteDepth: 0)
        switch standing {
        case .secret, .declared: found.append(place)
        case .gatewayToken: gatewayTokens.append(place)
        case .suspicious, .plain:
            noteOp(token)
            notePair(place, nil)
        }
    }

    /// Takes `true`, `false` or `null`, which is a secret only if the user says so.
    private mutating func takeLiteral(_ token: JSONToken) {
        if standing == .declared { found.append(SecretRange(range: token.range, quoteDepth: 0)) }
        noteOp(token)
    }

    /// Notes the value of the frame's `op`, whatever it is: an odd one does not show that the frame is harmless.
    private mutating func noteOp(_ token: JSONToken) {
        guard isGateway, containers.count == 1, containers[0].isObject, containers[0].name == "op" else { return }
        ops.append(Substring(decoding: bytes[token.range], as: UTF8.self))
    }

    /// Notes one half of a pair such as `{"name":"Authorization","value":"…"}`, in any order.
    private mutating func notePair(_ place: SecretRange, _ text: SecretText?) {
        guard let container = containers.last, container.isObject else { return }
        switch container.name {
        case "value": containers[containers.count - 1].values.append(place)
        case "name", "key":
            guard let text, rules.judge(normal: SecretName.normalized(text.text)) == .secret else { return }
            containers[containers.count - 1].isNamedSecret = true
        default: return
        }
    }

    /// Notes a name in a list: in `["Authorization","Bearer …"]` the element after the name is the secret.
    private mutating func noteHeader(_ token: JSONToken) {
        guard let container = containers.last, !container.isObject else { return }
        let name = SecretName.normalized(SecretText(string: token, in: bytes).text)
        containers[containers.count - 1].standing = rules.judge(normal: name) == .secret ? .secret : .plain
    }
}
