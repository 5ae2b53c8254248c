/// Some texts, each once. A place never changes.
struct TextTable: Sendable {
    private(set) var texts: [String] = []
    /// Bytes decide, so that texts that look alike stay apart.
    private var places: [ExactText: UInt32] = [:]

    init() {}

    var count: Int { texts.count }

    func text(_ place: UInt32) -> String { texts[Int(place)] }

    /// The place of a text; `nil` if it is not in the table.
    func known(_ text: String) -> UInt32? { places[ExactText(text)] }

    /// The place of a text, added if it is new.
    mutating func place(of text: String) -> UInt32 {
        if let place = places[ExactText(text)] { return place }
        let place = UInt32(truncatingIfNeeded: texts.count)
        places[ExactText(text)] = place
        texts.append(text)
        return place
    }
}
