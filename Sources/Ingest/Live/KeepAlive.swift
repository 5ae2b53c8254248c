#if Recorders
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// TCP keep-alive, which finds dead connections on which nothing is sent. An idle event stream is silent, and by the
/// systems' defaults its socket would fail only after two hours.
enum KeepAlive {
    // 30 s of silence and 3 probes 10 s apart: a dead peer shows within a minute (docs/recording.md).
    private static let idleSeconds = 30
    private static let intervalSeconds = 10
    private static let probes = 3

    /// The options of a TCP socket.
    static var options: [(option: ChannelOptions.Types.SocketOption, value: Int)] {
        #if canImport(Darwin)
        let idle = TCP_KEEPALIVE
        #else
        let idle = TCP_KEEPIDLE
        #endif
        return [
            (.socketOption(.so_keepalive), 1), (tcp(idle), idleSeconds), (tcp(TCP_KEEPINTVL), intervalSeconds),
            (tcp(TCP_KEEPCNT), probes),
        ]
    }

    /// Sets the options on a channel that is a TCP socket.
    static func set(on channel: any Channel) -> EventLoopFuture<Void> {
        .andAllSucceed(options.map { channel.setOption($0.option, value: $0.value) }, on: channel.eventLoop)
    }

    private static func tcp(_ name: CInt) -> ChannelOptions.Types.SocketOption {
        ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
    }
}
#endif
