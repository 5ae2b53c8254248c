import EventLog
import TestSupport
import Testing

@testable import Projections

/// A channel that is emptied has no live message, whatever became of its messages before: held by a model that knows of each
/// message only whether it is live.
@Suite struct EmptiedChannelsTests {
    /// Files of two folders, and messages of two channels of a server, which may state a message in either.
    private struct Traffic {
        private static let folders = ["general", "random"]
        private static let channels = ["7", "8"]

        private var scene = ChatScene()
        private var random: SeededGenerator
        /// The live messages by channel and id.
        private var live: Set<[String]> = []
        private var step: Int64 = 0

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func next() {
            step += 1
            let id = "\(Int.random(in: 1...12, using: &random))"
            let folder = Self.folders[Int.random(in: 0...1, using: &random)]
            let channel = Self.channels[Int.random(in: 0...1, using: &random)]
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3:
                scene.apply(.message(.written(scene.file("text \(step)", id, in: folder))))
                live.insert([folder, id])
            case 4...6:
                scene.apply(scene.message("text \(step)", id, in: channel, edited: step))
                for other in Self.channels { live.remove([other, id]) }
                live.insert([channel, id])
            case 7:
                scene.apply(scene.delete(id, in: folder, .untilWritten))
                live.remove([folder, id])
            case 8:
                let other = Self.folders.first { $0 != folder } ?? folder
                guard live.contains([folder, id]) else { return }
                let (from, to) = (scene.key(folder, id), scene.key(other, id))
                scene.apply(.message(.moved(from: from, to: to, remoteTime: nil, by: nil)))
                live.remove([folder, id])
                live.insert([other, id])
            default:
                let emptied = Bool.random(using: &random) ? folder : channel
                scene.apply(scene.deleteChannel(emptied, .untilWritten))
                live = live.filter { $0[0] != emptied }
            }
        }

        /// The live messages of the model, and those of the state.
        var found: (model: Set<[String]>, state: Set<[String]>) {
            let rows = scene.rows(.messages).map { [$0["channel"]?.string ?? "?", $0["id"]?.string ?? "?"] }
            return (live, Set(rows))
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func noMessageOfAnEmptiedChannelIsLive(seed: UInt64) throws {
        var traffic = Traffic(seed: seed)
        for step in 1...200 {
            traffic.next()
            let found = traffic.found
            try #require(found.state == found.model, "step \(step)")
        }
    }
}
