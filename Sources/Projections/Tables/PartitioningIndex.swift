extension RandomAccessCollection {
    /// The first index whose element fulfils a condition, by binary search; `endIndex` if none does. All elements that
    /// fulfil it must come behind those that do not, which is not checked. O(log n) calls.
    func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
        var (start, length) = (startIndex, count)
        while length > 0 {
            let middle = index(start, offsetBy: length / 2)
            if isBehind(self[middle]) {
                length /= 2
            } else {
                start = index(after: middle)
                length -= length / 2 + 1
            }
        }
        return start
    }
}
