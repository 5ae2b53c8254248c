public import Foundation

/// A log of a past format, kept as text in `Fixtures/formats`.
public enum PastLog {
    /// Makes a log of its text: a line `file PATH SIZE`, then `OFFSET HEX` for every 32 bytes that are not all zero.
    public static func restore(_ text: URL, to path: String) throws {
        let lines = try String(contentsOf: text, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: " ")
        }
        var file: (url: URL, data: Data)?
        for line in lines + [["file", "", "0"]] {
            if line[0] == "file" {
                if let file {
                    try FileManager.default.createDirectory(
                        at: file.url.deletingLastPathComponent(),
                        withIntermediateDirectories: true
                    )
                    try file.data.write(to: file.url)
                }
                file = (URL(filePath: "\(path)/\(line[1])"), Data(count: Int(line[2]) ?? 0))
            } else if let offset = Int(line[0], radix: 16) {
                for (place, byte) in bytes(line[1]).enumerated() { file?.data[offset + place] = byte }
            }
        }
    }

    private static func bytes(_ hex: Substring) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
