/// Which way a frame went, as captures and attributes name it.
enum FrameDirection: String {
    /// From the remote.
    case `in`
    /// To the remote.
    case out
}
