#if Recorders
import Dispatch
package import EventLog
import Synchronization

/// Files of a web server, for a thread that may wait. Redirects are not followed.
package final class HTTPFiles: Sendable {
    /// Where the files are, without what may be secret.
    package let name: String
    private let base: String
    private let access: HTTPAccess
    private let token: TokenSource?

    /// - Parameters:
    ///   - url: the folder of the files.
    ///   - token: sent with each request as a bearer token; `nil` for none.
    ///   - trustFile: root certificates in PEM that replace the system's.
    /// - Throws: `IngestError` for a URL or certificates that cannot be used.
    package init(at url: String, token: TokenSource?, trustFile: String?) throws {
        let address = try HTTPAddress(url, operation: "read tree")
        var base = address.origin + address.path
        while base.hasSuffix("/") { base.removeLast() }
        (self.base, name, self.token) = (base, base, token)
        access = try HTTPAccess(trustFile: trustFile)
    }

    /// The file at a path below the folder, downloaded into a file without a name; `nil` if there is none (404, 410).
    ///
    /// - Parameters:
    ///   - path: names that need no escape in a URL.
    ///   - bytesMax: the most bytes that it may have.
    ///   - folder: where there is room for it.
    /// - Throws: `IngestError` for another answer, or none.
    package func file(at path: [String], bytesMax: UInt64, in folder: String) throws -> OpenFile? {
        let file = try OpenFile(unnamedIn: folder)
        let url = base + "/" + path.joined(separator: "/")
        let status = try wait {
            var request = HTTPAccess.Request(url: url)
            if let token = self.token { request.headers = [("Authorization", "Bearer \(try await token.fresh())")] }
            return try await self.access.download(request, bytesMax: bytesMax) { piece in
                try file.write(piece, at: file.byteCount, folder)
            }
        } failure: { reason in
            IngestError(.io, operation: "read tree", object: url, reason: reason)
        }
        switch status {
        case 200: return file
        case 404, 410: return nil
        default:
            let reason = "the server answers with status \(status)"
            throw IngestError(.refused, operation: "read tree", object: url, reason: reason)
        }
    }

    /// Runs a task, and blocks until it is over.
    private func wait<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value,
        failure: (String) -> IngestError
    ) throws -> Value {
        let (box, done) = (ResultBox<Value>(), DispatchSemaphore(value: 0))
        Task {
            do { box.set(.success(try await body())) } catch { box.set(.failure(error)) }
            done.signal()
        }
        done.wait()
        do {
            return try box.get()
        } catch let trouble as HTTPTrouble {
            throw failure(trouble.description)
        }
    }
}

/// What a task leaves for the thread that waits for it.
private final class ResultBox<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func set(_ new: Result<Value, any Error>) { result.withLock { $0 = new } }

    func get() throws -> Value {
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
#endif
