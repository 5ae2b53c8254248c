#if Recorders
import NIOHTTP1

/// Changes the few header fields that name the proxy or its target. Order and case of the others stay.
struct ProxyHeaders {
    let target: WebSocketEndpoint
    let faults: ProxyFaults

    /// The fields of a request as the target gets them.
    ///
    /// - Parameter proxy: the proxy's authority as the client named it.
    func request(_ headers: HTTPHeaders, proxy: String) -> HTTPHeaders {
        var changed = HTTPHeaders()
        let own = ["http://\(proxy)", "https://\(proxy)", "ws://\(proxy)"]
        let isStream = headers["accept"].contains { $0.lowercased().contains("text/event-stream") }
        for (name, value) in headers {
            switch name.lowercased() {
            case "host": changed.add(name: name, value: target.hostHeader)
            case "origin", "referer":
                let start = own.first { value == $0 || value.hasPrefix($0 + "/") }
                changed.add(name: name, value: start.map { target.origin + value.dropFirst($0.count) } ?? value)
            case "accept-encoding":
                changed.add(name: name, value: Self.readable(value, isStream && faults.worksOnMessages))
            case "sec-websocket-extensions":
                let offers = value.split(separator: ",").filter {
                    let name = $0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
                    return name.lowercased() == "permessage-deflate"
                }
                guard !faults.changesOrder, !offers.isEmpty else { continue }
                let kept = offers.count == value.split(separator: ",").count ? value : offers.joined(separator: ",")
                changed.add(name: name, value: kept)
            default: changed.add(name: name, value: value)
            }
        }
        return changed
    }

    /// The codings that can be undone.
    private static func readable(_ value: String, _ isPlain: Bool) -> String {
        let codings = value.split(separator: ",").filter {
            let name = $0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
            return ["gzip", "deflate", "identity"].contains(name)
        }
        guard !isPlain, !codings.isEmpty else { return "identity" }
        if codings.count == value.split(separator: ",").count { return value }
        return codings.map { $0.drop { $0 == " " } }.joined(separator: ", ")
    }

    /// The fields of an answer as the client gets them.
    func answer(_ headers: HTTPHeaders, proxy: String) -> HTTPHeaders {
        var changed = HTTPHeaders()
        for (name, value) in headers {
            switch name.lowercased() {
            case "location", "content-location", "access-control-allow-origin":
                let rest =
                    value.lowercased().hasPrefix(target.origin.lowercased())
                    ? value.dropFirst(target.origin.count) : nil
                let isTarget = rest.map { $0.isEmpty || "/?#".contains($0.first ?? "/") } ?? false
                changed.add(name: name, value: isTarget ? "http://\(proxy)" + (rest ?? "") : value)
            case "set-cookie": changed.add(name: name, value: Self.cookie(value))
            default: changed.add(name: name, value: value)
            }
        }
        return changed
    }

    /// A cookie that a browser takes from the proxy, which is reached over plain HTTP.
    private static func cookie(_ value: String) -> String {
        let parts = value.split(separator: ";", omittingEmptySubsequences: false)
        let kept = parts.enumerated().compactMap { index, part -> Substring? in
            guard index > 0 else { return part }
            let word = part.filter { $0 != " " && $0 != "\t" }.lowercased()
            if word == "secure" || word.hasPrefix("domain=") { return nil }
            return word == "samesite=none" ? " SameSite=Lax" : part
        }
        return kept.joined(separator: ";")
    }
}

extension KnownSecrets {
    /// Adds the credentials of a request's head. The most important come last, because the latest are kept.
    func note(_ head: HTTPRequestHead) {
        for line in head.headers["cookie"] {
            for pair in line.split(separator: ";") { note(cookie: pair) }
        }
        if head.uri.utf8.contains(0x3F) { note(url: head.uri) }
        for (name, value) in head.headers {
            switch name.lowercased() {
            case "cookie": continue
            case "authorization", "proxy-authorization":
                let parts = value.split(separator: " ", maxSplits: 1)
                if let last = parts.last { note(String(last)) }
            default:
                if SecretName(parameter: Array(name.utf8)) != .plain { note(value) }
            }
        }
    }

    /// Adds the value of a cookie. A short one is a setting, and a word that stands anywhere.
    func note(cookie pair: Substring) {
        guard let equals = pair.firstIndex(of: "=") else { return }
        let value = pair[pair.index(after: equals)...].filter { $0 != "\"" && $0 != " " }
        if value.utf8.count >= 8 { note(value) }
    }
}
#endif
