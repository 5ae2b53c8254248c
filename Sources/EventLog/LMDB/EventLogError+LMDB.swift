import CLMDB

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// `ENOENT`, for files that do not import the C library.
let notFoundErrno = ENOENT

/// `ENOSPC`, for files that do not import the C library.
let fullDiskErrno = ENOSPC

/// `EIO`: also the code of LMDB for a write that the disk took only in part.
let inputOutputErrno = EIO

/// `EACCES`, for a log that was opened without the right to write.
let readOnlyErrno = EACCES

extension LMDBError {
    /// Whether the system refuses to open or to write the files.
    var isRefusedAccess: Bool { code == EACCES || code == EROFS || code == EPERM }

    /// Whether the disk has no room.
    var isFullDisk: Bool { DiskRoom.isLacking(code) }

    /// Whether a file is missing.
    var isNotFound: Bool { code == ENOENT }

    /// The code of the public error, and the next step for a person.
    ///
    /// Lookups turn `MDB_NOTFOUND` into `nil`, so it means here that a table of the log is missing.
    fileprivate var kind: (code: EventLogError.Code, advice: String) {
        switch code {
        case ENOSPC, EDQUOT: (.io, DiskRoom.advice)
        case EIO: (.io, "look for faults of the disk, and try again")
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_PANIC, MDB_INVALID, MDB_BAD_VALSIZE, MDB_INCOMPATIBLE,
            MDB_NOTFOUND:
            (.damaged, "see: logtool verify")
        case MDB_VERSION_MISMATCH: (.newerFormat, "the file was written by another version of LMDB")
        case MDB_READERS_FULL: (.io, "too many readers are open at once; end some")
        case EACCES, EPERM: (.io, "check the permissions of the files")
        case EROFS: (.io, "the file system is read-only")
        default: (.io, "")
        }
    }
}

extension EventLogError {
    /// Puts an error of LMDB into this program's words.
    init(_ error: LMDBError, operation: String, object: String) {
        let (code, advice) = error.kind
        let reason =
            switch error.code {
            case _ where error.isFullDisk: DiskRoom.reason(error.code)
            case EIO: "the disk has a fault (\(error.reason))"
            default: error.reason
            }
        self.init(
            code,
            operation: operation,
            object: object,
            reason: "\(reason), to \(error.operation)",
            advice: advice
        )
    }

    /// Runs `body` and rethrows an `LMDBError` as an `EventLogError`; other errors pass unchanged.
    static func wrapping<Result>(
        _ operation: String,
        _ object: String,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as LMDBError {
            throw EventLogError(error, operation: operation, object: object)
        }
    }
}
