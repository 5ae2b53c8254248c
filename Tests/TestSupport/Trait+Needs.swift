public import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test where material that stands beside the package is missing.
    public static func needs(shared path: String) -> Self {
        .enabled(if: PackageRoot.shared(path) != nil, "\(path) is not in the folder `shared` beside the package")
    }
}
