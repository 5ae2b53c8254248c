/// Whose reading of the bytes a replay follows (C12).
public enum Profile: String, CaseIterable, Sendable {
    /// What the remote meant.
    case canonical
}
