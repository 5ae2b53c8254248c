import EventLog
import JSON
import Kinds

/// Divides the units of a group into units within them, where these say of themselves what they are: the events of a list,
/// the JSON that a text holds, what a path beside it is about.
struct InferenceDivision {
    /// The groups that were found, each before those within it.
    private(set) var groups: [InferenceGroup] = []

    static let depthMax = 2
    static let groupsMax = 256

    init(_ groups: [InferenceGroup]) {
        for group in groups { add(group, depth: 0) }
    }

    private mutating func add(_ group: InferenceGroup, depth: Int) {
        guard groups.count < Self.groupsMax else { return }
        let place = groups.count
        groups.append(group)
        guard depth < Self.depthMax else { return }
        if let telling = Self.telling(of: group.units, isWhole: true) {
            return divide(place, group.units, at: group.base, telling, depth)
        }
        var walk = InferenceWalk()
        for unit in group.units { walk.visit(unit, at: group.base) }
        let paths = walk.paths.enumerated().filter { Self.isBase($1, of: group) }
            .sorted { ($0.element.steps.count, $0.offset) < ($1.element.steps.count, $1.offset) }.map(\.element)
        var below: [InferencePath] = []
        for path in paths where !below.contains(where: { path.isBelow($0) }) {
            let units = Self.numbered(walk.instances[path] ?? [])
            guard let telling = Self.telling(of: units, isWhole: false) else { continue }
            below.append(path)
            divide(place, units, at: path, telling, depth)
        }
    }

    /// Whether a path may lead to units: to elements, or into a text.
    private static func isBase(_ path: InferencePath, of group: InferenceGroup) -> Bool {
        path.steps.count > group.base.steps.count && path.levelCount <= group.base.levelCount + 2
            && path.levelCount < InferenceWalk.levelsMax && (path.steps.last == .elements || path.steps.last == .json)
    }

    /// Gives each unit an order of its own within its event.
    private static func numbered(_ units: [InferenceInstance]) -> [InferenceInstance] {
        var (event, count) = (-1, 0)
        return units.map { unit in
            count = unit.event == event ? min(count + 1, InferenceInstance.perEvent - 1) : 0
            event = unit.event
            let order = unit.event * InferenceInstance.perEvent + count
            return InferenceInstance(order: order, value: unit.value, way: unit.way, keys: unit.keys)
        }
    }

    /// What tells units apart; `nil` if they are all of one kind.
    ///
    /// - Parameter isWhole: whether the units have a group already, by their words.
    private static func telling(of units: [InferenceInstance], isWhole: Bool) -> InferenceTelling? {
        guard units.count >= 4 else { return nil }
        let values = units.map(\.value)
        let telling = InferenceTelling(units: values, isWhole: isWhole)
        if telling.pointer != nil { return telling }
        return !isWhole && telling.tellsChanges(values) ? telling : nil
    }

    private mutating func divide(
        _ parent: Int,
        _ units: [InferenceInstance],
        at base: InferencePath,
        _ telling: InferenceTelling,
        _ depth: Int
    ) {
        var places: [[InferenceGroup.Test]: Int] = [:]
        var found: [InferenceGroup] = []
        let outer = groups[parent]
        for unit in units {
            guard let tests = telling.exactTests(of: unit.value) else { continue }
            if places[tests] == nil {
                if found.count >= 64 { continue }
                places[tests] = found.count
                let key = InferenceGroup.Key(kind: outer.key.kind, path: outer.key.path, tests: tests)
                found.append(InferenceGroup(key: key, base: base, outerWords: outer.words, parent: parent))
            }
            if let place = places[tests] { found[place].units.append(unit) }
        }
        groups[parent].below.insert(base)
        for group in found { add(group, depth: depth + 1) }
    }
}
