import EventLog
import Projections

/// Whose texts are replaced, and which texts these are.
struct RedactionScope {
    /// The things, under all names that they had; `nil` to replace the texts wherever they stand.
    let things: Set<EntityReference>?
    /// Members of the things that were named beside those that are always replaced.
    let columns: Set<String>
    let substitutes: TextSubstitutes
    /// The people who are forgotten, whose ids and names go as well; `nil` for a redaction of things or texts.
    var people: ForgottenPeople?

    /// Whether a statement is about one of the things.
    func isOwn(_ statement: Statement) -> Bool {
        guard let things, let thing = statement.thing else { return false }
        return things.contains(thing)
    }

    /// Whether a statement is a message that answers one of the things.
    func isAnswer(_ statement: Statement) -> Bool {
        guard let things, let answered = statement.answered else { return false }
        return things.contains(answered)
    }

    /// Whether a statement is about one of the things, answers one, or names one of the people.
    func isNear(_ statement: Statement, of source: SourceName) -> Bool {
        if things == nil || isOwn(statement) || isAnswer(statement) { return true }
        return people.map { $0.names(statement, of: source) } ?? false
    }

    /// The names of the sources that have the things and the people; `nil` for all sources.
    var sources: Set<String>? {
        things.map { things in Set(things.compactMap(\.parts.first)).union(people?.ids.keys.map { $0 } ?? []) }
    }

    /// Whether a text that stays would tell one that goes.
    func isKept(by text: String) -> Bool {
        if things == nil || people != nil, substitutes.count(in: text) > 0 { return true }
        return things != nil && substitutes.isCopied(in: text, isNear: true)
    }

    /// The fields of a statement in which texts are replaced: those of the things, what an answer quotes of them beside its own
    /// text, and all where no thing was named.
    func fields(of statement: Statement) -> [Statement.Field] {
        if things == nil { return statement.fields }
        if isOwn(statement) { return people == nil ? statement.redacted(columns) : statement.fields }
        return isAnswer(statement) ? statement.fields.filter { $0.name != "content" } : []
    }

    /// Whether a match in a field goes.
    ///
    /// - Parameters:
    ///   - isGoing: Whether the field is one of `fields(of:)`.
    ///   - original: The field's string as it was.
    func goes(
        _ match: TextForms.Match,
        in field: Statement.Field,
        of statement: Statement,
        _ source: SourceName,
        isGoing: Bool
    ) -> Bool {
        guard let people, match.role.isOfPerson else { return isGoing }
        // An answer quotes the person by name, and may name others who are called the same.
        if isOwn(statement) || match.isMention { return true }
        return people.isNamed(by: field, of: statement, source, match)
    }
}

/// The people who are forgotten: their ids in each source.
struct ForgottenPeople {
    /// By source.
    var ids: [String: Set<String>]
    /// Ids that are also those of other things, such as a channel's: facts that have them cannot be read apart.
    var shared: Set<String> = []

    /// Whether a statement names one of the people, as far as it can be told from another thing with the same id.
    func names(_ statement: Statement, of source: SourceName) -> Bool {
        guard let own = ids[source.rawValue] else { return false }
        if statement.thing?.kind == .row {
            return statement.people.contains { own.contains($0) && Self.isTelling($0) } || isInColumn(statement, own)
        }
        if statement.people.contains(where: own.contains) { return true }
        return statement.author.map(own.contains) ?? false
    }

    /// An id that hardly is another thing's by chance.
    static func isTelling(_ id: String) -> Bool { id.utf8.count >= TextForms.longBytes }

    /// Whether a column of a row is the id of one of the people.
    private func isInColumn(_ statement: Statement, _ own: Set<String>) -> Bool {
        statement.fields.contains { field in
            let value = field.value.string ?? field.value.number?.text
            return value.map { own.contains($0) && Self.isTelling($0) } ?? false
        }
    }

    /// Whether an id or a name in a field stands there for one of the people: a member's nickname, the column of a row that is
    /// the id, a name in a row that has the id, and elsewhere an id that is no other thing's by chance.
    func isNamed(
        by field: Statement.Field,
        of statement: Statement,
        _ source: SourceName,
        _ match: TextForms.Match
    ) -> Bool {
        guard match.isWhole else { return false }
        if field.name == "nickname", statement.thing == nil { return names(statement, of: source) }
        if statement.thing?.kind == .row { return names(statement, of: source) }
        return match.role == .number(isLong: true)
            || match.role == .name && field.name != "authorName" && match.range.count >= TextForms.longBytes
                && field.name != "content" && field.name != "name"
    }
}
