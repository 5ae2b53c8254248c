import ArgumentParser
import Chromium
import Foundation

/// The page of `logtool view` in a browser: until it shows something, jumps, steps, memory.
struct ViewBenchmark {
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
        return try measure(Self.address(in: output))
    }

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
        try browser.value("page.show(Math.floor(page.timeline.last / 2))")
        let stepped = try (0..<steps / 20).flatMap { _ in try numbers(browser, Self.steps(20)) }.reduce(0, +)
        let memory = try browser.renderers().compactMap { Memory.anonymousBytes(of: String($0)) }.max() ?? 0
        let rate = Double(steps) * 1000 / max(stepped, 1)
        let late = jumped.sorted().dropLast(jumps / 20).last ?? 0
        return [
            Figure("view: page drawn, ms", events: count, found: paint, allowed: 1000),
            Figure("view: jump drawn, ms, 95 of 100", events: count, found: late, allowed: 150),
            Figure("view: jump drawn, ms, median", events: count, found: Figure.median(jumped), allowed: 150),
            Figure("view: steps drawn a second", events: count, rates: [rate], beside: "asked for", [30], goal: 1),
            Figure("view: memory of the page, MB", events: count, found: Double(memory) / 1_000_000, allowed: 200),
        ]
    }

    private func numbers(_ browser: Browser, _ script: String) throws -> [Double] {
        (try browser.value(script) as? [Any] ?? []).compactMap { ($0 as? NSNumber)?.doubleValue }
    }

    private static let drawn = "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"

    /// A script that jumps to drawn points; the milliseconds of each until it is drawn.
    private static func jumps(_ count: Int, seed: Int) -> String {
        """
        (async () => {
          let seed = \(seed * 48271);
          const times = [];
          for (let number = 0; number < \(count); number++) {
            seed = (seed * 48271) % 2147483647;
            const begin = performance.now();
            await page.show(1 + (seed % page.timeline.last));
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
