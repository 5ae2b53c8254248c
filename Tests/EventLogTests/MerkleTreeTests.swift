import EventLog
import Foundation
import TestSupport
import Testing

@Suite struct MerkleTreeTests {
    /// RFC 6962 names no vectors; these are those of its reference implementation.
    private static let leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
    private static let roots = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    ]

    @Test(arguments: 0...7)
    func rootsAreThoseOfTheReferenceImplementation(size: Int) {
        #expect(MerkleTree.root(of: Self.leaves.prefix(size).map(Self.leafHash)).hex == Self.roots[size])
    }

    @Test(arguments: [1, 2, 3, 7, 8, 9, 31, 32, 33])
    func everyProofOfATreeChecks(size: Int) throws {
        let leaves = (0..<size).map { MerkleTree.leafHash([UInt8($0)]) }
        let root = MerkleTree.root(of: leaves)
        for leaf in 0..<size {
            let proof = try MerkleTree.inclusionProof(leaf: UInt64(leaf), size: UInt64(size)) { range in
                MerkleTree.root(of: leaves[Int(range.lowerBound)..<Int(range.upperBound)])
            }
            #expect(Self.isIncluded(leaves[leaf], leaf, size, proof, root))
            #expect(!Self.isIncluded(leaves[leaf], leaf + 1, size, proof, root))
        }
        for first in 1...size {
            let proof = try MerkleTree.consistencyProof(from: UInt64(first), to: UInt64(size)) { range in
                MerkleTree.root(of: leaves[Int(range.lowerBound)..<Int(range.upperBound)])
            }
            let firstRoot = MerkleTree.root(of: leaves.prefix(first))
            #expect(
                MerkleTree.isConsistent(
                    from: UInt64(first),
                    root: firstRoot,
                    to: UInt64(size),
                    root: root,
                    proof: proof
                )
            )
        }
    }

    @Test(arguments: [1, 255, 256, 257, 700])
    func theLogsRootIsThatOfItsLeaves(size: Int) throws {
        let log = try TemporaryLog(try (1...size).map { try .sample($0) })
        let leaves = try log.events().map(\.leafHash)
        try log.store.read { session in
            for part in [0, 1, size / 2, size - 1, size] {
                let root = try session.root(size: UInt64(part))
                #expect(root == MerkleTree.root(of: leaves.prefix(part)))
            }
            let place = SequenceNumber(UInt64(size / 2 + 1))
            let proof = try session.inclusionProof(of: place, size: UInt64(size))
            let root = try session.root(size: UInt64(size))
            #expect(Self.isIncluded(leaves[size / 2], size / 2, size, proof, root))
        }
    }

    private static func leafHash(_ hex: String) -> Hash256 {
        let digits = Array(hex)
        return MerkleTree.leafHash(
            stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        )
    }

    private static func isIncluded(
        _ leafHash: Hash256,
        _ leaf: Int,
        _ size: Int,
        _ proof: [Hash256],
        _ root: Hash256
    ) -> Bool {
        MerkleTree.isIncluded(leafHash: leafHash, at: UInt64(leaf), size: UInt64(size), proof: proof, root: root)
    }
}
