import Foundation
import TestSupport

/// A SQLite file as Python's `sqlite3` reads it, which is no reader of ours.
struct PythonDatabase {
    let path: String

    /// Whether there is a Python with `sqlite3`; says so where there is none.
    static let isAvailable: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", "import sqlite3"]
        process.standardError = FileHandle.nullDevice
        if (try? process.run()) != nil {
            process.waitUntilExit()
            if process.terminationStatus == 0 { return true }
        }
        print("note: skipped, for there is no python3 with sqlite3")
        return false
    }()

    /// The rows of a query, a line each, values as Python writes them.
    func lines(_ sql: String) throws -> [String] {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            for row in database.execute(sys.argv[2]): print(repr(row))
            """
        return try run(script, [sql])
    }

    /// Every row of every table in the order of its columns, without the numbers that only SQLite gives.
    func dump() throws -> [String] {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            names = [name for name, sql in database.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name")
                if '_search' not in name and 'Search' not in name and not name.startswith('sqlite_')]
            for name in names:
                columns = [row[1] for row in database.execute(f'PRAGMA table_info("{name}")') if row[1] != 'row']
                listed = ', '.join(f'"{column}"' for column in columns)
                for row in sorted(map(repr, database.execute(f'SELECT {listed} FROM "{name}"'))):
                    print(name, row)
            """
        return try run(script, [])
    }

    /// What is wrong with the file: pages, foreign keys, full-text indexes; nothing where it is sound.
    func faults() throws -> [String] {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            for row in database.execute('PRAGMA integrity_check'):
                if row[0] != 'ok': print(row[0])
            for row in database.execute('PRAGMA foreign_key_check'): print('foreign key', row)
            searches = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%USING fts5%'")]
            for name in searches:
                try: database.execute(f"INSERT INTO {name} ({name}, rank) VALUES ('integrity-check', 1)")
                except sqlite3.DatabaseError as error: print(name, error)
            """
        return try run(script, [])
    }

    private func run(_ script: String, _ arguments: [String]) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", script, path] + arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
