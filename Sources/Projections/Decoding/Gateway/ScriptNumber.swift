/// Numbers as JavaScript reads and prints them.
///
/// Both directions are exact functions of IEEE 754 doubles, so they are the same on every machine
/// (`docs/decisions/0025-javascripts-numbers-leave-as-text.md`).
package enum ScriptNumber {
    /// The text of a number, in decimal: ECMA-262, 6.1.6.1.20.
    package static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return value == 0 ? "0" : JSONNumber.ecmaScript(value)
    }

    /// The text of the number that is nearest to one in a JSON text.
    package static func rounded(_ number: JSONNumber) -> String { text(decimal(number.text)) }

    /// The result of `parseFloat` for a decimal text.
    package static func decimal(_ text: some StringProtocol) -> Double { Double(String(text)) ?? .nan }
}
