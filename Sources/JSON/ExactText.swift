#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A text that equals another only if all bytes do. `String` treats canonically equivalent texts as equal, but two
/// files can have names that differ only in whether a letter is composed. For ids and names from outside as keys of
/// tables.
@usableFromInline
package struct ExactText: Codable, Hashable, Sendable {
    @usableFromInline
    package let string: String

    @inlinable
    package init(_ string: String) {
        self.string = string
    }

    @inlinable
    package static func == (left: ExactText, right: ExactText) -> Bool {
        areSame(left.string, right.string)
    }

    /// Whether two texts have the same bytes.
    @inlinable
    package static func areSame(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        let isSame = right.utf8.withContiguousStorageIfAvailable { left.hasBytes($0) }
        // A string bridged from Objective-C may not store its bytes contiguously.
        return isSame ?? left.utf8.elementsEqual(right.utf8)
    }

    /// Less than, equal to or greater than 0 as the first text sorts before, like or after the second by its bytes.
    /// This order does not depend on the locale or on the version of Unicode (I10), unlike `<` of `String`.
    package static func order(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        return left.withUTF8 { here in
            right.withUTF8 { UnsafeRawBufferPointer(here).order(UnsafeRawBufferPointer($0)) }
        }
    }

    /// Whether the first text sorts before the second by its bytes.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        order(left, right) < 0
    }

    @inlinable
    package func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension UnsafeRawBufferPointer {
    /// Less than, equal to or greater than 0 as these bytes sort before, like or after others.
    package func order(_ other: UnsafeRawBufferPointer) -> Int {
        // An empty buffer may have no address; the other one then decides by its length.
        guard let own = baseAddress, let others = other.baseAddress else { return count - other.count }
        let order = memcmp(own, others, Swift.min(count, other.count))
        return order == 0 ? count - other.count : Int(order)
    }
}

extension String {
    /// Whether the text has exactly these bytes.
    @inlinable @inline(__always)
    package func hasBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == bytes.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable {
            UnsafeRawBufferPointer($0).isSame(UnsafeRawBufferPointer(bytes))
        }
        return isSame ?? utf8.elementsEqual(bytes)
    }
}
