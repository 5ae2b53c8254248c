import EventLog
import Foundation
import Testing

/// The vectors of transparency-dev/merkle, which lie beside the package.
@Suite struct MerkleConformanceTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("../shared/conformance/merkle/testdata").standardizedFileURL

    private struct Inclusion: Decodable {
        let leafIdx: UInt64
        let treeSize: UInt64
        let root: String?
        let leafHash: String?
        let proof: [String]?
        let wantErr: Bool
    }

    private struct Consistency: Decodable {
        let size1: UInt64
        let size2: UInt64
        let root1: String?
        let root2: String?
        let proof: [String]?
        let wantErr: Bool
    }

    @Test(.enabled(if: !files("inclusion").isEmpty, "it needs vectors in \(root.path)"))
    func inclusionVectorsAreAnsweredAsTheySay() throws {
        let files = Self.files("inclusion")
        for file in files {
            let vector = try JSONDecoder().decode(Inclusion.self, from: Data(contentsOf: file))
            #expect(Self.isIncluded(vector) == !vector.wantErr, "\(file.path)")
        }
    }

    @Test(.enabled(if: !files("consistency").isEmpty, "it needs vectors in \(root.path)"))
    func consistencyVectorsAreAnsweredAsTheySay() throws {
        let files = Self.files("consistency")
        for file in files {
            let vector = try JSONDecoder().decode(Consistency.self, from: Data(contentsOf: file))
            #expect(Self.isConsistent(vector) == !vector.wantErr, "\(file.path)")
        }
    }

    private static func isIncluded(_ vector: Inclusion) -> Bool {
        guard let root = hash(vector.root), let leaf = hash(vector.leafHash), let proof = hashes(vector.proof) else {
            return false
        }
        return MerkleTree.isIncluded(
            leafHash: leaf,
            at: vector.leafIdx,
            size: vector.treeSize,
            proof: proof,
            root: root
        )
    }

    private static func isConsistent(_ vector: Consistency) -> Bool {
        guard let first = anyRoot(vector.root1), let second = anyRoot(vector.root2), let proof = hashes(vector.proof)
        else {
            return false
        }
        return MerkleTree.isConsistent(
            from: vector.size1,
            root: first,
            to: vector.size2,
            root: second,
            proof: proof
        )
    }

    private static func hashes(_ texts: [String]?) -> [Hash256]? {
        let hashes = (texts ?? []).map(hash)
        return hashes.contains(nil) ? nil : hashes.compactMap { $0 }
    }

    private static func hash(_ text: String?) -> Hash256? {
        text.flatMap { Data(base64Encoded: $0) }.flatMap { Hash256($0) }
    }

    /// Some vectors have roots that are no hashes where only their equality matters; those are hashed.
    private static func anyRoot(_ text: String?) -> Hash256? {
        text.flatMap { Data(base64Encoded: $0) }.map { Hash256($0) ?? Hasher256.hash(Array($0)) }
    }

    private static func files(_ kind: String) -> [URL] {
        let directory = root.appendingPathComponent(kind)
        let paths = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
        return (paths?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }
    }
}
