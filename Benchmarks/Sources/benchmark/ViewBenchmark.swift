import ArgumentParser
import Chromium
import Foundation

/// The page of `logtool view` in a browser: until it shows something, jumps, steps, memory. Then the files that `report` and
/// `audit` write of at most 100,000 events: their size, until they show something, and scrolling.
struct ViewBenchmark {
    private static let fileEventsMax = 100_000
    /// As many as have 50,000 changes.
    private static let auditEventsMax = 250_000

    let count: Int
    let scratch: Scratch
    /// The logtool that serves.
    let program: String
    /// Few of a small log.
    private var jumps: Int { count < 100_000 ? 20 : 200 }
    private var steps: Int { jumps * 3 }

    func run() throws -> [Figure] {
        guard Browser.path != nil else { throw ValidationError("chromium is not installed") }
        let capture = scratch.fresh("view.ndjson")
        try Traffic.mixed.write(count, to: capture)
        let log = scratch.fresh("view.eventlog")
        // The second leaves kept states.
        for arguments in [
            ["ingest", log, "capture", capture, "--kind", Traffic.mixed.kind, "-q"], ["replay", log, "--digest", "-q"],
        ] { _ = try Child.use(program, arguments, output: "/dev/null") }
        let output = scratch.fresh("view.out")
        guard let child = Child.start(program, ["view", log], output: output) else {
            throw ValidationError("\(program) view failed")
        }
        defer {
            kill(child, SIGTERM)
            _ = Child.wait(for: child)
        }
        return try measure(Self.address(in: output)) + report() + audit()
    }

    /// A log of the first so many events, and a file that a command makes of it.
    private func file(of count: Int, _ arguments: (_ log: String, _ file: String) -> [String]) throws -> String {
        let (capture, log) = (scratch.fresh("files.ndjson"), scratch.fresh("files.eventlog"))
        let file = scratch.fresh("page.html")
        try Traffic.mixed.write(count, to: capture)
        for arguments in [
            ["ingest", log, "capture", capture, "--kind", Traffic.mixed.kind, "-q"], arguments(log, file),
        ] { _ = try Child.use(program, arguments, output: "/dev/null") }
        return file
    }

    /// Milliseconds until a file is shown: the median of three openings, for the first one shares the processors with the start of the
    /// browser, which takes a second.
    private func openings(of file: String, in browser: Browser, _ open: (String) throws -> Void) throws -> Double {
        let clock = ContinuousClock()
        return Figure.median(
            try (0..<3).map { _ in
                try browser.call("Page.navigate", ["url": "about:blank"])
                try browser.wait(for: "location.href === 'about:blank'")
                let begin = clock.now
                try open("file://\(file)")
                return (clock.now - begin) / .milliseconds(1)
            }
        )
    }

    private func report() throws -> [Figure] {
        let count = min(count, Self.fileEventsMax)
        let file = try file(of: count) { ["report", $0, "-o", $1, "--as-recorded", "-q"] }
        let browser = try Browser(in: try scratch.freshFolder("report"))
        let isLarge = count > 10_000
        let drawn = try openings(of: file, in: browser) { try browser.show(page: $0) }
        let bytes = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        return [
            Figure("report: page drawn, ms", events: count, found: drawn, allowed: isLarge ? 3000 : 1000),
            Figure("report: MB", events: count, found: Double(bytes) / 1_000_000, allowed: isLarge ? 20 : 3),
        ]
    }

    private func audit() throws -> [Figure] {
        let file = try file(of: min(count, Self.auditEventsMax)) { ["audit", $0, "--html", $1, "-q"] }
        let browser = try Browser(in: try scratch.freshFolder("audit"))
        let drawn = try openings(of: file, in: browser) { address in
            try browser.call("Page.navigate", ["url": address])
            try browser.wait(for: "!!(window.page && document.querySelector('.entry'))")
        }
        let entries = try browser.value("page.entries.count") as? Int ?? 0
        let pauses = try numbers(browser, Self.scrolling)
        let rate = Double(pauses.count) * 1000 / max(pauses.reduce(0, +), 1)
        let late = pauses.sorted().dropLast(pauses.count / 20).last ?? 0
        return [
            Figure("audit: page of changes drawn, ms", events: entries, found: drawn, allowed: 1000),
            Figure(
                "audit: pictures a second, scrolled",
                events: entries,
                rates: [rate],
                beside: "asked for",
                [30],
                goal: 1
            ),
            Figure("audit: ms between pictures, 95 of 100", events: entries, found: late, allowed: 1000 / 30),
        ]
    }

    /// A script that scrolls a list through all of it; the milliseconds between its pictures.
    private static let scrolling = """
        (async () => {
          const { list } = page;
          const picture = () => new Promise((done) => requestAnimationFrame(done));
          const pauses = [];
          let last = await picture();
          for (let number = 0; number < 240; number++) {
            list.scrollTop += number % 30 === 29 ? list.scrollHeight / 10 : 300;
            const now = await picture();
            pauses.push(now - last);
            last = now;
          }
          return pauses;
        })()
        """

    /// The address that `view` prints.
    private static func address(in output: String) throws -> String {
        for _ in 0..<3000 {
            if let text = try? String(contentsOfFile: output, encoding: .utf8), text.hasSuffix("\n") {
                return text.trimmingCharacters(in: .newlines)
            }
            usleep(10_000)
        }
        throw ValidationError("view printed no address")
    }

    private func measure(_ address: String) throws -> [Figure] {
        let browser = try Browser(in: try scratch.freshFolder("browser"))
        let clock = ContinuousClock()
        let begin = clock.now
        try browser.show(page: address)
        let paint = (clock.now - begin) / .milliseconds(1)
        // Few in a call, which is answered when all are drawn.
        let jumped = try (0..<jumps / 10).flatMap { try numbers(browser, Self.jumps(10, seed: $0 + 1)) }
        let settled = try (0..<jumps / 10).flatMap { try numbers(browser, Self.jumps(1, seed: $0 + 99, isWhole: true)) }
        try browser.value("page.show(Math.floor(page.timeline.last / 2))")
        let stepped = try (0..<steps / 20).flatMap { _ in try numbers(browser, Self.steps(20)) }.reduce(0, +)
        let memory = try browser.renderers().compactMap { Memory.anonymousBytes(of: String($0)) }.max() ?? 0
        let rate = Double(steps) * 1000 / max(stepped, 1)
        let late = jumped.sorted().dropLast(jumps / 20).last ?? 0
        return [
            Figure("view: page drawn, ms", events: count, found: paint, allowed: 1000),
            Figure("view: jump drawn, ms, 95 of 100", events: count, found: late, allowed: 150),
            Figure("view: jump drawn, ms, median", events: count, found: Figure.median(jumped), allowed: 150),
            Figure(
                "view: jump and all around it drawn, ms, median",
                events: count,
                found: Figure.median(settled),
                allowed: 500
            ),
            Figure("view: steps drawn a second", events: count, rates: [rate], beside: "asked for", [30], goal: 1),
            Figure("view: memory of the page, MB", events: count, found: Double(memory) / 1_000_000, allowed: 200),
        ]
    }

    private func numbers(_ browser: Browser, _ script: String) throws -> [Double] {
        (try browser.value(script) as? [Any] ?? []).compactMap { ($0 as? NSNumber)?.doubleValue }
    }

    private static let drawn = "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"

    /// A script that jumps to drawn points; the milliseconds of each until it is drawn, or until the other places are, too.
    private static func jumps(_ count: Int, seed: Int, isWhole: Bool = false) -> String {
        """
        (async () => {
          let seed = \(seed * 48271);
          const times = [];
          for (let number = 0; number < \(count); number++) {
            seed = (seed * 48271) % 2147483647;
            const begin = performance.now();
            await page.show(1 + (seed % page.timeline.last));
            \(isWhole ? "await page.settle();" : "")
            await \(drawn);
            times.push(performance.now() - begin);
          }
          return times;
        })()
        """
    }

    /// A script that takes steps in turn; the milliseconds of all.
    private static func steps(_ count: Int) -> String {
        """
        (async () => {
          const begin = performance.now();
          for (let number = 0; number < \(count); number++) {
            await page.move(1);
            await \(drawn);
          }
          return [performance.now() - begin];
        })()
        """
    }
}
