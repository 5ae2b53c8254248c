/// A store is saved as records, in the order in which its messages were first heard of.
extension MessageStore: Codable {
    init(from decoder: any Decoder) throws {
        self.init()
        for record in try [MessageRecord](from: decoder) {
            let place = add(record.key)
            change(at: place) { $0 = record }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for place in 0..<count { try container.encode(record(at: place)) }
    }
}
