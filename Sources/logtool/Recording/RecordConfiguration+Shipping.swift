#if Recorders
import EventLog
import JSON
import JetStream
import Shipping

extension RecordConfiguration.Shipping {
    /// What is asked of the shipment. The key is read anew for each round.
    func request() throws -> LogShipment.Request {
        var request = LogShipment.Request()
        request.origin = origin
        request.key = try key.map { try SigningKeyFile.key(at: $0) }
        return request
    }
}

extension ConfigurationReader {
    /// What `ship` may say of a tree, and of a stream.
    private static let ofTrees: Set<String> = ["to", "every", "key", "origin"]
    private static let ofStreams = ofTrees.union(["replicas", "token-env", "token-file", "credentials", "ca-file"])

    /// Where a log is shipped to; `nil` for nowhere.
    func shipping(_ mapping: JSONObject, _ log: String, place: String) throws -> RecordConfiguration.Upkeep? {
        guard let value = mapping["ship"], !value.isNull else { return nil }
        let place = "\(place).ship"
        guard let members = value.object else { throw failure("\(place) is no mapping with to") }
        let isStream = try text(members, "to", place: place).map { NATSAddress.isAddress($0) } ?? false
        try check(members, knows: isStream ? Self.ofStreams : Self.ofTrees, place: place)
        let target = try isStream ? stream(members, place: place) : tree(members, place: place)
        let every = try text(members, "every", place: place) ?? (isStream ? "5s" : "1m")
        guard let interval = try? DurationText.parse(every), interval >= .seconds(1) else {
            throw failure("\(place): every is a duration of a second or more, such as 30s")
        }
        let shipping = RecordConfiguration.Shipping(
            target: target,
            key: try path(members, "key", place: place),
            origin: try text(members, "origin", place: place)
        )
        return RecordConfiguration.Upkeep(log: log, interval: interval, work: .ship(shipping))
    }

    private func tree(_ members: JSONObject, place: String) throws -> RecordConfiguration.Shipping.Target {
        guard let folder = try path(members, "to", place: place) else { throw failure("\(place) has no to") }
        return .tree(folder)
    }

    private func stream(_ members: JSONObject, place: String) throws -> RecordConfiguration.Shipping.Target {
        let address = try text(members, "to", place: place) ?? ""
        do {
            _ = try NATSAddress(address)
        } catch let error as EventLogError {
            throw failure("\(place): \(error.reason)")
        }
        #if NATS
        let access = StreamAccess(
            place: address,
            tokenEnvironment: try text(members, "token-env", place: place),
            tokenFile: try path(members, "token-file", place: place),
            credentials: try path(members, "credentials", place: place),
            trustFile: try path(members, "ca-file", place: place)
        )
        guard [access.tokenEnvironment, access.tokenFile, access.credentials].count(where: { $0 != nil }) <= 1 else {
            throw failure("\(place): give one of token-env, token-file and credentials")
        }
        guard let replicas = Int(try text(members, "replicas", place: place) ?? "1"), (1...5).contains(replicas) else {
            throw failure("\(place): replicas is a number from 1 to 5")
        }
        return .stream(access, replicas: replicas)
        #else
        throw StreamAccess.withoutNATS("read configuration \"\(path)\": \(place)")
        #endif
    }
}
#endif
