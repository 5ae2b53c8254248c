import CLMDB
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Environment {
    /// The size of the map with which a file is opened: `least`, doubled until the file fits. LMDB itself would take the
    /// size of the data; a writer stores the size, and `MetaPage.fault` counts one that is no power of two as damage.
    private static func mapBytes(_ least: Int, for path: String) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { return least }
        var bytes = least
        while bytes < status.st_size, bytes < 1 << 60 { bytes *= 2 }
        return bytes
    }

    /// Opens or makes the environment in a folder, and frees the slots of readers that ended.
    ///
    /// - Parameter data: the data file that was checked; `nil` if none exists.
    static func open(
        _ folder: Folder,
        _ data: FileIdentity?,
        tableCount: Int,
        access: Access,
        mapBytes: Int
    ) throws(LMDBError) -> OpaquePointer {
        // LMDB would make a missing file.
        guard data != nil || access.creates else { throw LMDBError(notFoundErrno, "open \(folder.path)") }
        if access.locks { try folder.reserveReaderTable() }
        var created: OpaquePointer?
        try check(mdb_env_create(&created), "make an environment")
        guard let created else { throw LMDBError(MDB_INVALID, "make an environment") }
        do {
            try check(mdb_env_set_maxdbs(created, UInt32(tableCount)), "set the number of tables")
            try check(mdb_env_set_maxreaders(created, readersMax), "set the number of readers")
            let path = folder.pathForLibraries
            let mapBytes = Self.mapBytes(mapBytes, for: "\(path)/\(Folder.dataFileName)")
            try check(mdb_env_set_mapsize(created, mapBytes), "set the size of the map")
            if DamagedPages.endsProcess.load(ordering: .relaxed) { clmdb_catch_assertions(created) }
            try check(mdb_env_open(created, path, access.flags, 0o600), "open \(folder.path)")
            try checkIdentity(of: created, data, folder)
        } catch {
            // LMDB requires this also after an opening that failed.
            mdb_env_close(created)
            throw error
        }
        var dead: Int32 = 0
        // The slot of a reader that was killed would keep old pages from being used again.
        _ = mdb_reader_check(created, &dead)
        return created
    }

    /// Checks that LMDB opened the file that was looked at before (I22), or made one in this folder.
    private static func checkIdentity(
        of handle: OpaquePointer,
        _ data: FileIdentity?,
        _ folder: Folder
    ) throws(LMDBError) {
        var descriptor: Int32 = -1
        try check(mdb_env_get_fd(handle, &descriptor), "look at what was opened")
        let wanted = data ?? (try? folder.checkEnvironment()) ?? nil
        guard wanted != nil, wanted == FileIdentity(of: descriptor) else {
            throw LMDBError(notFoundErrno, "open \(folder.path), whose data file was exchanged meanwhile")
        }
    }
}
