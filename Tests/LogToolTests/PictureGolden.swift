import Chromium
import Foundation
import TestSupport
import Testing

/// The brightness of a page, as a text, which small changes of a font leave as it is.
enum PictureGolden {
    /// A part may be so much brighter or darker: another version of a font or of the browser.
    private static let (stepsMax, partsMax) = (3, 40)

    /// Has a browser show what comes in a colour scheme, without motion.
    static func prepare(_ browser: Browser, scheme: String) throws {
        let features = [
            ["name": "prefers-color-scheme", "value": scheme], ["name": "prefers-reduced-motion", "value": "reduce"],
        ]
        try browser.call("Emulation.setEmulatedMedia", ["features": features])
    }

    /// Compares what a browser shows with what is kept, and leaves the page.
    static func check(_ browser: Browser, _ name: String) throws {
        let picture = try #require(
            try browser.call("Page.captureScreenshot", ["format": "png"])["data"] as? String
        )
        // The page itself admits no picture.
        try browser.call("Page.navigate", ["url": "about:blank"])
        let grid = try #require(try browser.value(grid(of: picture)) as? [String])
        try check(grid, name)
    }

    /// Compares a grid with the one that is kept, or keeps it where `UPDATE_GOLDENS` is set.
    private static func check(_ grid: [String], _ name: String) throws {
        let url = PackageRoot.url.appending(path: "Fixtures/pictures/\(name).txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] != nil {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data((grid.joined(separator: "\n") + "\n").utf8).write(to: url)
        }
        let kept = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(kept.count == grid.count)
        var parts: [String] = []
        for (row, lines) in zip(kept, grid).enumerated() {
            for (column, sides) in zip(lines.0, lines.1).enumerated() {
                let values = (sides.0.hexDigitValue ?? -99, sides.1.hexDigitValue ?? 99)
                if abs(values.0 - values.1) > stepsMax { parts.append("\(column),\(row): \(values.0) is \(values.1)") }
            }
        }
        #expect(parts.count <= partsMax, "\(name): \(parts.prefix(10)); to keep the new one: UPDATE_GOLDENS=1")
    }

    /// A script that gives the brightness of 40 by 25 parts of a picture, each from 0 to 15.
    private static func grid(of picture: String) -> String {
        """
        (async () => {
          const image = new Image();
          image.src = "data:image/png;base64,\(picture)";
          await image.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const lines = [];
          for (let row = 0; row < 25; row++) {
            let line = "";
            for (let column = 0; column < 40; column++) {
              const [left, top] = [Math.floor((column * image.width) / 40), Math.floor((row * image.height) / 25)];
              const [width, height] = [Math.ceil(image.width / 40), Math.ceil(image.height / 25)];
              const { data } = context.getImageData(left, top, width, height);
              let sum = 0;
              for (let place = 0; place < data.length; place += 4)
                sum += 0.2126 * data[place] + 0.7152 * data[place + 1] + 0.0722 * data[place + 2];
              line += Math.min(15, Math.floor(sum / (data.length / 4) / 16)).toString(16);
            }
            lines.push(line);
          }
          return lines;
        })()
        """
    }
}
