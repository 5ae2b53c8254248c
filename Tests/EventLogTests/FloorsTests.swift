import Foundation
import TestSupport
import Testing

/// The order of folders that `ARCHITECTURE.md` lists: each names types of folders below it only.
@Suite struct FloorsTests {
    private let files: [SourceText]
    private let floors: [String: [String]]

    init() throws {
        files = try SourceText.all()
        let page = try String(contentsOf: PackageRoot.url.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        floors = Self.floors(in: page)
    }

    /// The rows of the table of floors: a module, and its folders from the ground up.
    private static func floors(in page: String) -> [String: [String]] {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: "## Floors") else { return [:] }
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
        return section.reduce(into: [:]) { floors, line in
            let quoted = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            if line.hasPrefix("| `"), let module = quoted.first { floors[module] = Array(quoted.dropFirst()) }
        }
    }

    /// What names a type of a folder above its own, in a module whose folders stand in an order.
    private func arrowsUp(_ module: String, _ order: [String]) -> [String] {
        let own = files.filter { $0.module == module }
        // What lies in no folder stands above all of them.
        let height = { (folder: String) in order.firstIndex(of: folder) ?? order.count }
        var homes: [String: [SourceText]] = [:]
        for file in own { for type in file.defined { homes[type, default: []].append(file) } }
        return own.flatMap { file in
            file.named.sorted().compactMap { type in
                guard let home = homes[type], home.count == 1, height(home[0].folder) > height(file.folder) else {
                    return nil
                }
                return "\(module)/\(file.folder)/\(file.name) names \(type), which is in \(home[0].folder)/"
            }
        }
    }

    @Test(arguments: ["EventLog", "Ingest", "Projections", "Clients", "logtool"])
    func aFolderNamesTypesOfFoldersBelowItOnly(module: String) throws {
        let order = try #require(floors[module])
        let folders = Set(files.filter { $0.module == module && !$0.folder.isEmpty }.map(\.folder))
        #expect(folders == Set(order), "the folders of \(module) are not those of ARCHITECTURE.md")
        #expect(order.count == folders.count)
        #expect(arrowsUp(module, order) == [])
    }

    /// Otherwise the test above would pass whatever the order.
    @Test(arguments: ["EventLog", "Ingest", "Projections", "Clients", "logtool"])
    func anOrderThatIsTurnedFails(module: String) throws {
        #expect(!arrowsUp(module, try #require(floors[module]).reversed()).isEmpty)
    }
}
