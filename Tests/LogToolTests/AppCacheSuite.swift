import GRDB
import TestSupport

/// Tests of the cache `app.sqlite` that the schema `app.sql` and the map `map.yaml` make of the log `L`, all in one folder.
protocol AppCacheSuite {
    var folder: TemporaryDirectory { get }
}

extension AppCacheSuite {
    func rebuild(_ options: String...) throws -> ToolRun {
        try ToolRun.run(
            ["rebuild", "L", "--to", "app.sqlite", "--schema", "app.sql", "--map", "map.yaml"] + options,
            in: folder
        )
    }

    func write(_ sql: String) throws {
        try DatabaseQueue(path: folder.path("app.sqlite")).write { try $0.execute(sql: sql) }
    }

    func rows(_ sql: String) throws -> [String] {
        try DatabaseQueue(path: folder.path("app.sqlite")).read { try String.fetchAll($0, sql: sql) }
    }
}
