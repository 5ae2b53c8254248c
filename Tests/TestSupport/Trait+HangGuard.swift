public import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that waits for what will never come. So long that no load of the machine is taken for that: while other
    /// tests hold all threads, a test's time goes on.
    public static var hangGuard: Self { .timeLimit(.minutes(20)) }
}
