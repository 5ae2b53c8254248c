import TestSupport
import Testing

/// What the page of an audit computes, under Node.
@Suite struct AuditScriptTests {
    @Test(.enabled(if: WebPage.node != nil, "node is not installed"))
    func theListComputesWhatItSays() throws {
        let names = [
            "Entries", "RowWindow", "differencesOf", "piecesOf", "shortened", "wordDifference",
        ]
        try WebPage.check(["unpack", "texts", "entries"], names, Self.checks, in: try TemporaryDirectory())
    }

    private static let checks = #"""
        // Every row can be scrolled to, is then drawn, and is seen as a whole, also where there are more than a browser lays out.
        for (const count of [1, 3, 50, 1000, 81632, 81633, 3000000]) {
          const [height, box] = [98, 500];
          const rows = new RowWindow(count, height, box);
          assert.ok(rows.height <= RowWindow.heightMax);
          let top = 0;
          for (let round = 0; round < 300; round++) {
            const row = [0, count - 1, random(count)][Math.min(2, round)];
            top = Math.min(rows.scrollFor(row, top), Math.max(0, rows.height - box));
            const { first, end, offset } = rows.at(top);
            assert.ok(first <= row && row < end && end - first <= box / height + 2 * RowWindow.margin + 2, `${count} ${row}`);
            const place = offset + (row - first) * height - top;
            assert.ok(place >= -1 && place + Math.min(height, box) <= box + 1, `${count}: row ${row} is drawn at ${place}`);
            assert.ok(rows.scrollFor(row, top) === top || count > 81632, `${count} ${row}`);
          }
          const { end } = rows.at(rows.height - box);
          assert.strictEqual(end, count);
        }

        // Searching and choosing is the same as looking at each entry.
        const classes = ["edit", "delete", "move", "restore"];
        const words = ["Alpha", "beta", "ΔΕΛΤΑ", "<b>", "😀"];
        const word = () => words[random(words.length)];
        const all = Array.from({ length: 400 }, (_, index) => ({
          sequence: String(index * 2 + 1),
          entity: `message:s/c/${random(40)}`,
          class: classes[random(4)],
          change: "edited",
          by: random(2) ? word() : undefined,
          before: random(3) ? { content: `${word()} ${word()}`, count: random(3) } : undefined,
          after: random(3) ? { content: `${word()} ${word()}`, more: { deep: word() } } : undefined,
        }));
        const counts = Object.fromEntries(classes.map((name) => [name, all.filter((entry) => entry.class === name).length]));
        const read = () => new Entries([{}, ...all, { counts }].map((value) => JSON.stringify(value)));
        // What needs all entries is the same however many were read before.
        for (const before of [0, 1, 250, 400]) {
          const entries = read();
          for (let count = 0; count < before; count++) entries.entry(random(400));
          if (before === 250) while (!entries.read(0.01));
          const index = random(400);
          const same = all.flatMap(({ entity }, place) => (entity === all[index].entity ? [place] : []));
          assert.deepStrictEqual(entries.versions(index), same);
          assert.deepStrictEqual(Array.from({ length: entries.count }, (_, index) => entries.entry(index)), JSON.parse(JSON.stringify(all)));
        }
        const entries = read();
        for (let round = 0; round < 200; round++) {
          const some = new Set(classes.filter(() => random(round % 3 + 1)));
          const text = ["", "", "alpha", "BETA", "δελτα", "😀", "beta alpha", "message:s/c/7", "none"][random(9)];
          const fits = (entry) => {
            const texts = [entry.entity, entry.by, entry.before?.content, entry.after?.content, entry.after && JSON.stringify(entry.after.more)];
            return some.has(entry.class) && texts.some((value) => value?.toLowerCase().includes(text.toLowerCase()));
          };
          assert.deepStrictEqual(entries.fitting(text, some), all.flatMap((entry, index) => (fits(entry) ? [index] : [])));
        }
        all.forEach((entry, index) => {
          const same = all.flatMap((other, place) => (other.entity === entry.entity ? [place] : []));
          assert.deepStrictEqual(entries.versions(index), same);
          assert.strictEqual(entries.indexOf(BigInt(entry.sequence)), index);
          assert.strictEqual(entries.indexOf(BigInt(entry.sequence) - 1n), index);
        });
        assert.strictEqual(entries.indexOf(100000n), undefined);

        // What differs is told once, the text first; the pieces give both sides again.
        assert.deepStrictEqual(
          differencesOf({ before: { a: 1, same: [1], content: "x" }, after: { b: null, same: [1], content: "y" } }),
          [["content", "x", "y"], ["a", 1, undefined], ["b", undefined, null]],
        );
        assert.deepStrictEqual(
          differencesOf({ before: JSON.parse('{"__proto__":1}'), after: { constructor: "x" } }),
          [["__proto__", 1, undefined], ["constructor", undefined, "x"]],
        );
        for (let round = 0; round < 300; round++) {
          const text = () => Array.from({ length: random(60) }, word).join(" ");
          const [before, after] = [text(), text()];
          const pieces = piecesOf(["content", before, after]);
          const side = (kind) => pieces.filter(([other]) => other === "same" || other === kind).map(([, piece]) => piece).join("");
          assert.deepStrictEqual([side("gone"), side("new")], [before, after]);
          const short = shortened(pieces, 120);
          assert.ok(short.map(([, piece]) => piece).join("").length <= 120 + 90);
          // The first change is among them, however much stayed before it.
          const [first, ...rest] = pieces.filter(([kind]) => kind !== "same");
          if (first) assert.ok(short.some(([kind, piece]) => kind === first[0] && first[1].startsWith(piece.replace(/…$/, ""))));
          assert.ok(short.every(([, piece]) => piece.isWellFormed?.() ?? true));
        }
        """#
}
