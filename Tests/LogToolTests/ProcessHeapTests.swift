#if canImport(Glibc)
import Foundation
import TestSupport
import Testing

/// The heap of the program begins in huge pages, unless the environment sets the heap up (decision 0032).
@Suite(.hangGuard) struct ProcessHeapTests {
    @Test(
        arguments: [
            [:], ["MALLOC_ARENA_MAX": "4"], ["GLIBC_TUNABLES": "glibc.malloc.arena_max=4"],
            ["MALLOC_MMAP_THRESHOLD_": "131072"], ["MALLOC_TOP_PAD_": "131072"], ["MALLOC_TRIM_THRESHOLD_": "131072"],
        ] as [[String: String]]
    )
    func theEnvironmentStandsOverTheProgram(settings: [String: String]) async throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 1)
        let process = try ToolProcess(["events", "L", "--follow"], in: folder, environment: settings)
        while process.output.isEmpty {
            try Task.checkCancellation()
            try #require(process.isRunning, "\(process.errors)")
            await Task.yield()
        }
        // The flag of memory for which somebody asked for huge pages.
        let flags = process.memoryMap.split(separator: "\n").filter { $0.hasPrefix("VmFlags:") }
        let asks = flags.contains { $0.split(separator: " ").contains("hg") }
        #expect(settings.isEmpty || !asks)
        let hasHugePages = FileManager.default.fileExists(atPath: "/sys/kernel/mm/transparent_hugepage")
        if settings.isEmpty, hasHugePages, !flags.isEmpty { #expect(asks) }
        _ = process.end(SIGTERM)
    }
}
#endif
