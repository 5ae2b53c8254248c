public import Projections

/// Whose reading of the bytes a replay follows (I16): a name, and the ways in which that client departs from what the
/// remote meant.
///
/// A name with an `@` is a variant of the client before it: a past version, or the client in one situation. Its rules are
/// those of that client and its own.
public struct Profile: RawRepresentable, CaseIterable, Sendable {
    /// The name, as `--profile` takes it.
    public let rawValue: String
    /// How the profile departs from the canonical reading.
    public let rules: ReadingRules
    /// The app whose client it is; empty for `canonical`.
    package let app: String
    /// The client that a variant derives from; the profile's own name if it is no variant.
    private let baseName: String
    /// The profile's divergences, in the order of its table. For a variant, those that its base does not have.
    package let divergences: [Divergence]

    /// What the remote meant.
    public static let canonical = Profile("canonical", of: "", [])

    /// `canonical`, then the present clients, then their variants, by app, then the readings of any app.
    public static let allCases: [Profile] = {
        let ofApps = [vibeChannel, retrocast, punchlist, vibeStatus, sideBar].joined()
        return [canonical] + ofApps.filter { !$0.isVariant } + ofApps.filter(\.isVariant) + generic
    }()

    /// A present client.
    init(_ name: String, of app: String, _ divergences: [Divergence]) {
        (rawValue, baseName, self.app, self.divergences) = (name, name, app, divergences)
        rules = ReadingRules(divergences.flatMap(\.rules))
    }

    /// A variant of a client.
    ///
    /// - Parameter variation: What follows the `@` of its name: `open` for a client that stays open in one view, a version,
    ///   `before-` and a commit, or a situation.
    init(_ variation: String, of base: Profile, _ divergences: [Divergence]) {
        (rawValue, baseName, app) = ("\(base.rawValue)@\(variation)", base.rawValue, base.app)
        self.divergences = divergences
        rules = ReadingRules((base.divergences + divergences).flatMap(\.rules))
    }

    /// The profile with a name; `nil` if there is none.
    public init?(rawValue: String) {
        guard let profile = Self.byName[rawValue] else { return nil }
        self = profile
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// Whether it derives from another profile.
    package var isVariant: Bool { baseName != rawValue }

    /// The present client that a variant derives from; the profile itself if it is no variant.
    package var base: Profile { Profile(rawValue: baseName) ?? self }
}

extension Profile: Hashable {
    /// Two profiles are the same if their names are.
    public static func == (left: Profile, right: Profile) -> Bool { left.rawValue == right.rawValue }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension ReplayOptions {
    /// The profile whose rules the replay follows; `canonical` if the rules are those of no profile.
    public var profile: Profile {
        get { Profile.allCases.first { $0.rules == rules } ?? .canonical }
        set { rules = newValue.rules }
    }
}

extension DocumentOptions {
    /// The profile that the document names; `canonical` if it names none.
    public var profile: Profile {
        get { Profile(rawValue: reading) ?? .canonical }
        set { reading = newValue.rawValue }
    }
}
