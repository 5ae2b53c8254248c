/// The smallest part of a failing list that a search by leaving out finds: no single element of it can go without the
/// failure going too (the algorithm `ddmin` of Zeller and Hildebrandt, 2002, with chunks halved).
///
/// - Parameter fails: whether a part, in the order of the whole, still fails. Must hold for the whole.
public func shrunk<Element>(_ elements: [Element], while fails: ([Element]) -> Bool) -> [Element] {
    var kept = elements
    var size = max(1, kept.count / 2)
    while true {
        var start = 0
        var isSmaller = false
        while start < kept.count {
            let candidate = Array(kept[..<start]) + kept[min(start + size, kept.count)...]
            if fails(candidate) {
                kept = candidate
                isSmaller = true
            } else {
                start += size
            }
        }
        if size > 1 { size /= 2 } else if !isSmaller { return kept }
    }
}
