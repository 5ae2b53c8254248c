"""What trees of many recorders take: files, requests, bytes (docs/scale.md).

scale.py [--recorders N] [--rate EVENTS_A_SECOND_OF_ALL] [--every SECONDS] [--days D] [--payload BYTES_A_COMPRESSED_EVENT] [--seed N]
scale.py --rounds N,N,…      one tree, round by round: prints bundles that are there and files written, for comparison with `logtool ship`

Rates of recorders differ as they do among channels: the k-th busiest has 1/k of the busiest's. Each tree is counted by the rules of docs/ship.md.
"""
import argparse, random

EVENTS_MAX, WIDTH = 1 << 20, 256


class Tree:
    def __init__(self):
        self.size, self.bundles = 0, []
        self.bundle_files = self.tile_files = self.bundled_events = self.tile_bytes = self.rounds = 0

    def ship(self, new):
        """One round with so many new events. Returns whether anything was written."""
        if not new: return False
        head, self.rounds = self.size + new, self.rounds + 1
        while self.bundles:
            first, last = self.bundles[-1]
            behind = head - last
            if last - first + 1 > behind or last - first + 1 + behind > EVENTS_MAX: break
            self.bundles.pop()
        first = self.bundles[-1][1] + 1 if self.bundles else 1
        while first <= head:
            last = min(head, first + EVENTS_MAX - 1)
            self.bundles.append((first, last))
            self.bundle_files += 1
            self.bundled_events += last - first + 1
            first = last + 1
        level = 0
        while head >> (8 * level):
            before, after = self.size >> (8 * level), head >> (8 * level)
            if after > before:
                tiles = (after - 1) // WIDTH - before // WIDTH + 1
                self.tile_files += tiles
                self.tile_bytes += 32 * (after - before // WIDTH * WIDTH)
            level += 1
        self.size = head
        return True


parser = argparse.ArgumentParser()
parser.add_argument("--recorders", type=int, default=10_000)
parser.add_argument("--rate", type=float, default=1_000_000)
parser.add_argument("--every", type=float, default=60)
parser.add_argument("--days", type=float, default=1)
parser.add_argument("--payload", type=float, default=76)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--rounds")
options = parser.parse_args()

if options.rounds:
    tree = Tree()
    for new in options.rounds.split(","): tree.ship(int(new))
    print(" ".join("%d-%d" % bundle for bundle in tree.bundles), tree.bundle_files, tree.tile_files)
    raise SystemExit

chance = random.Random(options.seed)
share = sum(1 / (k + 1) for k in range(options.recorders))
seconds, totals = options.days * 86_400, [0] * 7
# Trees of neighbouring rates are alike: one of a group is counted with the average rate, the others as it is.
step = max(1, options.recorders // 200)
for k in range(0, options.recorders, step):
    group = min(step, options.recorders - k)
    rate = options.rate * sum(1 / (j + 1) for j in range(k, k + group)) / group / share
    tree, carry = Tree(), 0.0
    for _ in range(int(seconds / options.every)):
        carry += rate * options.every * chance.uniform(0.5, 1.5)
        tree.ship(int(carry))
        carry -= int(carry)
    counts = (tree.size, tree.bundle_files, tree.tile_files, tree.bundled_events, tree.tile_bytes, tree.rounds, len(tree.bundles))
    totals = [total + group * count for total, count in zip(totals, counts)]
events, bundles, tiles, bundled, tile_bytes, rounds, there = totals
# Beside bundles and tiles a round writes a manifest and two checkpoints.
puts = bundles + tiles + 3 * rounds
print("events                   %15d" % events)
print("events of the busiest    %15d a second" % (options.rate / share))
print("files written            %15d  %10.0f a second: tiles %.0f %%" % (puts, puts / seconds, 100 * tiles / puts))
print("bytes of bundles written %15d  %10.1f MB/s; each event %.1f times" % (bundled * options.payload, bundled * options.payload / seconds / 1e6, bundled / max(1, events)))
print("bytes of tiles written   %15d  %10.1f MB/s" % (tile_bytes, tile_bytes / seconds / 1e6))
print("bytes that stay          %15d  %10.1f TB" % (events * (options.payload + 32), events * (options.payload + 32) / 1e12))
print("files to restore a tree  %15.1f" % (2 + there / options.recorders))
