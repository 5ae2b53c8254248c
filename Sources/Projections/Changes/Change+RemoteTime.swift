import EventLog

extension Change {
    /// The remote's own time of the change; `nil` if the remote gives none. Never the time of receipt.
    var remoteTime: Timestamp? {
        switch self {
        case .message(.written(let write)): write.remoteTime
        case .message(.deleted(let deletion)): deletion.deletedAt
        case .message(.moved(_, _, let remoteTime, _)): remoteTime
        case .session(.observed(let fields)): fields.timestamp == nil ? nil : fields.instant
        case .prompt(.asked(let fields)): fields.answeredAt ?? fields.askedAt
        // A row that its remote gives no time is placed by arrival.
        case .row(let row): row.isPlacedByArrival ? nil : row.committedAt
        case .message(.reaction), .message(.reactions), .message(.withdrawn), .message(.stands), .session(.removed),
            .prompt(.unreadable), .prompt(.removed),
            .channel, .community,
            .item:
            nil
        }
    }
}
