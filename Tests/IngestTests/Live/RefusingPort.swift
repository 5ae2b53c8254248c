import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A port of this machine that refuses connections, and that nobody else gets meanwhile.
///
/// A socket that is bound and does not listen holds the port; that of a server which has stopped may be another test's in a moment.
final class RefusingPort: Sendable {
    let number: Int
    private let descriptor: Int32

    init() throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        try #require(descriptor >= 0 && result == 0 && number > 0)
    }

    deinit {
        close(descriptor)
    }
}
