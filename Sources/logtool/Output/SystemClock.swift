import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The machine's clock: the only place where the program asks for the time of day. States never do (I10).
enum SystemClock {
    /// Now, to the microsecond.
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let microseconds = Int64(time.tv_nsec) / 1000
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: microseconds * 1000))
    }
}
