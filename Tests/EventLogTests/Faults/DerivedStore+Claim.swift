import Foundation

@testable import EventLog

extension DerivedStore {
    /// Makes a copied folder of derived data one that was made where it lies, as nobody can who only hands it over.
    static func claim(_ path: String) throws {
        for name in [FolderStamp.fileName, "checked", "lock.mdb"] {
            try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
        let folder = try Folder(at: path)
        let place = try FolderStamp.make(in: folder)
        let environment = try Environment(
            folder: folder,
            tables: ["tables", "values"],
            access: .readWrite,
            pages: .own
        )
        let transaction = try environment.beginWrite()
        let key: [UInt8] = [0]
        let owner = try key.withUnsafeBytes { key in
            try transaction.view.value(of: key, in: environment.tables[0]).map { Array($0) } ?? []
        }
        try transaction.putSummed(Array(owner.dropLast(40)) + Array(place.bytes), at: key, in: environment.tables[0])
        try transaction.commit()
    }
}
