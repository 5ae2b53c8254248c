/// Reads front matter as YAML. Every scalar is the text as written: no Booleans, no numbers.
///
/// Costs time linear in the text (I23): `YAMLEvents` limits hostile text, and an alias names a scalar only.
enum YAMLFrontMatter {
    /// The members of the top-level map, merge keys resolved, without those that are empty, `~` or `null`.
    static func members(of text: String) throws(MessageFile.Fault) -> JSONObject {
        let root: JSONValue?
        do throws(YAMLFault) {
            let reader = YAMLReader(events: try YAMLEvents(text))
            root = try reader.root()
        } catch {
            throw MessageFile.Fault(reason: "its front matter \(error.reason)")
        }
        guard let members = root?.object else {
            throw MessageFile.Fault(reason: "its front matter is no list of keys and values")
        }
        var present = JSONObject()
        for member in members.members where !member.value.isNull { present[member.name] = member.value }
        return present
    }
}
