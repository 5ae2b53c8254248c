"""Reads a tree as C2SP's tlog-tiles, tlog-checkpoint and signed-note describe it, and knows nothing else of it.

tree_reader.py TREE [PEM [--minimum N]]: checks all tiles, entries and (with openssl and a public key) the signature, proves each of some leaves and
earlier sizes, and prints size, root, and the number of checks. Bundles of entries that end at the minimum index, or before it, may be gone.
tree_reader.py --proof FILE PEM: checks a tlog-proof, and prints sequence, size, and the number of checks.
"""
import base64, hashlib, os, subprocess, sys, tempfile

tree = sys.argv[1]
minimum = int(sys.argv[sys.argv.index("--minimum") + 1]) if "--minimum" in sys.argv else None
checks = 0


def sha(data): return hashlib.sha256(data).digest()
def parent(a, b): return sha(b"\1" + a + b)


def check(truth, what):
    global checks
    checks += 1
    if not truth: sys.exit("wrong: " + what)


def read(path):
    with open(os.path.join(tree, path), "rb") as file: return file.read()


def number(n):
    groups = ["%03d" % (n % 1000)]
    while n >= 1000:
        n //= 1000
        groups.insert(0, "x%03d" % (n % 1000))
    return "/".join(groups)


def tile(level, index, width):
    data = read("tile/%s/%s%s" % (level, number(index), "" if width == 256 else ".p/%d" % width))
    return data


def root(hashes):
    if not hashes: return sha(b"")
    if len(hashes) == 1: return hashes[0]
    split = 1
    while split * 2 < len(hashes): split *= 2
    return parent(root(hashes[:split]), root(hashes[split:]))


# RFC 9162, section 2.1.3.2.
def included(leaf, index, size, proof, head):
    fn, sn, r = index, size - 1, leaf
    for p in proof:
        if sn == 0: return False
        if fn & 1 or fn == sn:
            r = parent(p, r)
            while not fn & 1 and fn: fn, sn = fn >> 1, sn >> 1
        else: r = parent(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == head


def check_signature(text, line, origin, pem):
    dash, name, blob = line.split(" ")
    blob = base64.b64decode(blob)
    der = base64.b64decode("".join(open(pem).read().splitlines()[1:-1]))
    check(blob[:4] == sha(name.encode() + b"\n\1" + der[-32:])[:4] and name == origin, "the key's id")
    with tempfile.TemporaryDirectory() as folder:
        for file, data in (("text", text), ("signature", blob[4:])):
            with open(os.path.join(folder, file), "wb") as out: out.write(data)
        run = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", pem, "-rawin", "-in", folder + "/text",
                              "-sigfile", folder + "/signature"], capture_output=True)
        check(run.returncode == 0, "the signature")


if tree == "--proof":
    proof, note = open(sys.argv[2], "rb").read().split(b"\n\n", 1)
    first, extra, index, *hashes = proof.decode().split("\n")
    check(first == "c2sp.org/tlog-proof@v1", "the first line")
    text, signatures = note.split(b"\n\n")[0] + b"\n", note.decode().split("\n\n")[1].splitlines()
    origin, size, head = text.decode().split("\n")[:3]
    leaf = sha(b"\0" + base64.b64decode(extra.split(" ")[1]))
    place = int(index.split(" ")[1])
    check(included(leaf, place, int(size), [base64.b64decode(h) for h in hashes], base64.b64decode(head)), "inclusion")
    check_signature(text, signatures[0], origin, sys.argv[3])
    print(place + 1, size, checks)
    sys.exit()

note = read("checkpoint")
end = note.rindex(b"\n\n") + 1
text, signatures = note[:end], note[end + 1:].decode().splitlines()
origin, size, head = text.decode().split("\n")[:3]
size, head = int(size), base64.b64decode(head)

# Every tile of every level, from the checkpoint's size alone.
levels, level = [], 0
while size >> (8 * level):
    count, hashes = size >> (8 * level), []
    for index in range((count + 255) // 256):
        width = min(256, count - 256 * index)
        data = tile(level, index, width)
        check(len(data) == 32 * width, "the width of a tile")
        hashes += [data[i:i + 32] for i in range(0, len(data), 32)]
    levels.append(hashes)
    level += 1
leaves = levels[0] if levels else []
for level in range(1, len(levels)):
    for i, value in enumerate(levels[level]): check(root(levels[level - 1][256 * i:256 * i + 256]) == value, "a tile")
check(root(leaves) == head, "the root")

# Entries, where the tree has them.
if minimum is not None or os.path.isdir(os.path.join(tree, "tile/entries")):
    for index in range((size + 255) // 256):
        width = min(256, size - 256 * index)
        try: data = tile("entries", index, width)
        except FileNotFoundError:
            check(minimum is None or 256 * index + width <= minimum, "a bundle of entries that is gone")
            continue
        for i in range(width):
            length = int.from_bytes(data[:2], "big")
            check(sha(b"\0" + data[2:2 + length]) == leaves[256 * index + i], "an entry")
            data = data[2 + length:]
        check(not data, "the end of a bundle")


def path(m, hashes):
    if len(hashes) == 1: return []
    split = 1
    while split * 2 < len(hashes): split *= 2
    if m < split: return path(m, hashes[:split]) + [root(hashes[split:])]
    return path(m - split, hashes[split:]) + [root(hashes[:split])]


for index in {0, size // 3, size // 2, size - 1} if size else (): check(included(leaves[index], index, size, path(index, leaves), head), "inclusion")
if os.path.exists(os.path.join(tree, "checkpoint.previous")):
    before = read("checkpoint.previous").decode().split("\n")
    check(root(leaves[:int(before[1])]) == base64.b64decode(before[2]), "consistency")

if len(sys.argv) > 2: check_signature(text, signatures[0], origin, sys.argv[2])
print(size, base64.b64encode(head).decode(), checks)
