/// Front matter as a YAML reader reads it, with every scalar as the text that was written: no Booleans, no numbers.
///
/// Limits keep hostile text from costing more than it is worth (`YAMLEvents`). An alias stands for a scalar only.
enum YAMLFrontMatter {
    /// The members of the top-level map, merge keys resolved. Absent ones (empty, `~`, `null`) are left out.
    static func members(of text: String) throws(FrontMatter.Fault) -> JSONObject {
        let root: JSONValue?
        do throws(YAMLFault) {
            let reader = YAMLReader(events: try YAMLEvents(text))
            root = try reader.root()
        } catch {
            throw FrontMatter.Fault(reason: "its front matter \(error.reason)")
        }
        guard let members = root?.object else {
            throw FrontMatter.Fault(reason: "its front matter is no list of keys and values")
        }
        var present = JSONObject()
        for member in members.members where !member.value.isNull { present[member.name] = member.value }
        return present
    }
}
