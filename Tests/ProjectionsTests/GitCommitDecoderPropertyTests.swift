import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct GitCommitDecoderPropertyTests {
    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func theStateIsThatOfTheTipsTreeAndItsAncestry(seed: UInt64) {
        var random = RandomBranch(seed: seed, moves: false)
        for _ in 0..<40 {
            random.step()
            let scene = random.branch.scene
            #expect(Set(scene.rows(.messages).map(RandomBranch.path)) == random.expectedLive, "seed \(seed)")
            #expect(Set(scene.rows(.deletedMessages).map(RandomBranch.path)) == random.expectedDeleted, "seed \(seed)")
            #expect(scene.ids(.channels) == random.expectedChannels, "seed \(seed)")
            for row in scene.rows(.messages) {
                let text = random.tipTree[RandomBranch.path(row)] ?? ""
                #expect(text.hasSuffix(row["content"]?.string ?? "?"), "seed \(seed)")
            }
        }
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func foldingFactsAndKeptCommitsGivesTheRetainedState(seed: UInt64) throws {
        var random = RandomBranch(seed: seed, moves: true)
        for _ in 0..<50 { random.step() }
        let (retained, refolded) = try random.branch.compacted(keep: 2)
        #expect(firstDifference(retained.normalForm, refolded.normalForm) == nil, "seed \(seed)")
        let again = try refolded.compacted(keep: 2)
        #expect(again.refolded.events.map(\.sequence) == refolded.events.map(\.sequence), "seed \(seed)")
        var (left, right) = (random, random)
        left.branch = retained
        right.branch = refolded
        for _ in 0..<20 {
            left.step()
            right.step()
        }
        #expect(firstDifference(left.branch.normalForm, right.branch.normalForm) == nil, "seed \(seed)")
    }
}

/// A history of commits, merges and rewrites made by a seed, with what must come of it worked out from whole trees.
struct RandomBranch {
    var branch = BranchScene()
    private var random: SeededGenerator
    private let moves: Bool
    private var commits: [String] = []
    private var known: [String: Set<String>] = [:]
    private var orphans: Set<String> = []
    private var tip = ""
    private var texts = 0

    init(seed: UInt64, moves: Bool) {
        random = SeededGenerator(seed: seed)
        self.moves = moves
    }

    var tipTree: [String: String] { branch.trees[tip] ?? [:] }
    var expectedLive: Set<String> { Self.messages(in: tipTree) }
    var expectedDeleted: Set<String> {
        (known[tip] ?? []).union(orphans).filter { tipTree[$0] == nil }
    }
    var expectedChannels: [String] {
        Set(tipTree.keys.map { String($0.prefix { $0 != "/" }) }).sorted()
    }

    static func path(_ row: JSONValue) -> String {
        "\(row["channel"]?.string ?? "")/\(row["id"]?.string ?? "").md"
    }

    mutating func step() {
        let dice = Int.random(in: 0..<20, using: &random)
        let other = commits.randomElement(using: &random) ?? ""
        switch dice {
        case 0 where commits.count > 3 && other != tip:
            rewrite(to: other)
        case 1...4 where other != tip: merge(other, takesAll: dice < 4)
        case 5 where commits.count > 3: commit(mutated(branch.trees[other] ?? [:]), parents: [other])
        default: commit(mutated(tipTree), parents: commits.isEmpty ? [] : [tip])
        }
    }

    private mutating func commit(_ tree: [String: String], parents: [String]) {
        let id = "c\(commits.count)"
        branch.commit(id, tree, parents: parents, by: "author \(commits.count % 3)")
        known[id] = parents.reduce(Self.messages(in: tree)) { $0.union(known[$1] ?? []) }
        commits.append(id)
        tip = id
    }

    private mutating func merge(_ other: String, takesAll: Bool) {
        var tree = tipTree
        for (path, text) in (branch.trees[other] ?? [:]).sorted(by: { $0.key < $1.key }) where takesAll {
            if tree[path] == nil || Bool.random(using: &random) { tree[path] = text }
        }
        if Bool.random(using: &random) { tree = mutated(tree) }
        commit(tree, parents: Bool.random(using: &random) ? [tip, other] : [other, tip])
    }

    private mutating func rewrite(to other: String) {
        branch.rewrite(from: tip, to: other)
        orphans.formUnion((known[tip] ?? []).subtracting(known[other] ?? []))
        tip = other
    }

    private mutating func mutated(_ tree: [String: String]) -> [String: String] {
        var tree = tree
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let path = ["a", "b"].randomElement(using: &random)! + "/m\(Int.random(in: 0..<6, using: &random)).md"
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: tree[path] = nil
            case 2: tree[path] = "no front matter \(texts)"
            case 3 where moves: if let text = tree.removeValue(forKey: path) { tree[path + "x.md"] = text }
            case 4: tree["c/.gitkeep"] = tree["c/.gitkeep"] == nil ? "" : nil
            default:
                tree[path] = BranchScene.file("text \(texts)", replyTo: "m\(Int.random(in: 0..<6, using: &random))")
            }
            texts += 1
        }
        return tree
    }

    private static func messages(in tree: [String: String]) -> Set<String> {
        Set(tree.filter { $0.value.hasPrefix("---") }.keys)
    }
}
