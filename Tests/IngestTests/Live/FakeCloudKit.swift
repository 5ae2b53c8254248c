#if Recorders
import Foundation
import Synchronization

/// A server that answers as CloudKit's web services do: pages, tags, tokens that are good for one request.
final class FakeCloudKit: Sendable {
    struct State {
        var sessions: [String: String] = [:]
        var prompts: [String: (tag: String, responded: Bool)] = [:]
        /// Sessions that the query does not give any more, though they are there.
        var aged: Set<String> = []
        var token = 1
        var pageSize = 2
    }

    let state = Mutex(State())

    func answer(_ request: ScriptedServer.Request) throws -> ScriptedServer.Answer {
        let json = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any] ?? [:]
        return try state.withLock { state in
            guard
                request.query["ckWebAuthToken"] == "s3cret+\(state.token)/="
                    || request.query["ckWebAuthToken"] == "s3cret%2B\(state.token)%2F%3D"
            else { return .text(421, #"{"serverErrorCode":"AUTHENTICATION_REQUIRED"}"#) }
            state.token += 1
            let body = request.path.hasSuffix("lookup") ? lookup(json, state) : query(json, state)
            return try FakeGitHub.json(body, ["X-Apple-CloudKit-Web-Auth-Token": "s3cret+\(state.token)/="])
        }
    }

    private func query(_ json: [String: Any], _ state: State) -> [String: Any] {
        let query = json["query"] as? [String: Any] ?? [:]
        var records: [[String: Any]]
        if query["recordType"] as? String == "Session" {
            records = state.sessions.filter { !state.aged.contains($0.key) }.sorted { $0.key < $1.key }
                .map { ["recordName": $0.key, "recordChangeTag": $0.value, "recordType": "Session"] }
        } else {
            let filter = (query["filterBy"] as? [[String: Any]])?.first?["fieldValue"] as? [String: Any]
            let responded = (filter?["value"] as? Int) == 1
            records = state.prompts.filter { $0.value.responded == responded }.sorted { $0.key < $1.key }
                .map { ["recordName": $0.key, "recordChangeTag": $0.value.tag, "recordType": "Prompt"] }
        }
        let start = Int(json["continuationMarker"] as? String ?? "0") ?? 0
        let end = min(records.count, start + state.pageSize)
        var body: [String: Any] = ["records": Array(records[start..<end])]
        if end < records.count { body["continuationMarker"] = String(end) }
        return body
    }

    private func lookup(_ json: [String: Any], _ state: State) -> [String: Any] {
        let names = (json["records"] as? [[String: Any]] ?? []).compactMap { $0["recordName"] as? String }
        let records = names.map { name -> [String: Any] in
            let tag = state.sessions[name] ?? state.prompts[name]?.tag
            guard let tag else { return ["recordName": name, "serverErrorCode": "NOT_FOUND", "reason": "gone"] }
            return ["recordName": name, "recordChangeTag": tag]
        }
        return ["records": records]
    }
}
#endif
