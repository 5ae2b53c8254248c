// The entries of an audit (eventlog.audit/1): which of them fit, what differs in each, and which rows a list shows.

class Entries {
  /** Made of the lines of the block: a header, the entries, and what the audit says at its end. */
  constructor(lines) {
    this.header = JSON.parse(lines[0]);
    this.end = JSON.parse(lines.at(-1));
    // An entry stays a text until it is asked for: to read 50,000 of them takes half a second.
    this.all = lines.slice(1, -1);
    this.things = new Map();
    this.readCount = 0;
    this.texts = new Map();
  }

  get count() {
    return this.all.length;
  }

  entry(index) {
    const entry = this.all[index];
    return typeof entry === "string" ? (this.all[index] = JSON.parse(entry)) : entry;
  }

  /** Reads the entries that are not read yet, in their order, for so many milliseconds; true when all are read. */
  read(milliseconds) {
    const end = performance.now() + milliseconds;
    while (this.readCount < this.count && performance.now() < end) {
      const { entity } = this.entry(this.readCount);
      if (this.things.has(entity)) this.things.get(entity).push(this.readCount);
      else this.things.set(entity, [this.readCount]);
      this.readCount++;
    }
    return this.readCount === this.count;
  }

  /** The indexes of the entries of some classes that contain a text, in whatever case, ascending. */
  fitting(text, classes) {
    const wanted = text.toLowerCase();
    const indexes = Array.from({ length: this.count }, (_, index) => index);
    if (wanted === "" && Object.keys(this.end.counts).every((name) => classes.has(name))) return indexes;
    return indexes.filter((index) => classes.has(this.entry(index).class) && (wanted === "" || this.text(index).includes(wanted)));
  }

  /** All that an entry shows, in lower case; made once it is searched. */
  text(index) {
    const known = this.texts.get(index);
    if (known !== undefined) return known;
    const entry = this.entry(index);
    const sides = [entry.before, entry.after].map((fields) => (fields ? Object.values(fields).map(plain).join("\n") : ""));
    const text = [entry.sequence, entry.entity, entry.change, entry.by ?? "", ...(entry.notes ?? []), ...sides].join("\n").toLowerCase();
    this.texts.set(index, text);
    return text;
  }

  /** The indexes of the entries of one entry's thing, its own among them. Reads all entries. */
  versions(index) {
    this.read(Infinity);
    return this.things.get(this.entry(index).entity);
  }

  /** The first entry of an event or of the first one behind it; undefined where none follows. */
  indexOf(sequence) {
    const index = this.all.findIndex((_, index) => BigInt(this.entry(index).sequence) >= sequence);
    return index < 0 ? undefined : index;
  }
}

/** A value as a reader sees it: a text as it is, else JSON. */
function plain(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The members that differ in an entry, as [name, before, after]: the text first, the others in their order. */
function differencesOf(entry) {
  // Maps, for a member may be called as something that every object has.
  const [before, after] = [new Map(Object.entries(entry.before ?? {})), new Map(Object.entries(entry.after ?? {}))];
  const names = [...before.keys(), ...[...after.keys()].filter((name) => !before.has(name))];
  const differing = names.filter((name) => JSON.stringify(before.get(name)) !== JSON.stringify(after.get(name)));
  const isText = (name) => name === "content" || name === "text";
  return [...differing.filter(isText), ...differing.filter((name) => !isText(name))].map((name) => [name, before.get(name), after.get(name)]);
}

/** One member that differs, as [kind, words]; see wordDifference. */
function piecesOf([, before, after]) {
  if (before !== undefined && after !== undefined) return wordDifference(plain(before), plain(after));
  return before === undefined ? [["new", plain(after)]] : [["gone", plain(before)]];
}

/** The pieces for a row: of words that stayed only those around the others, and at most so many characters. */
function shortened(pieces, charactersMax = 400) {
  const around = (text, index) => {
    const [before, behind] = [index > 0 ? 40 : 0, index < pieces.length - 1 ? 40 : 0];
    if (pieces.length === 1 || text.length <= before + behind + 20) return text;
    return `${characters(text, 0, before)} … ${characters(text, text.length - behind, text.length)}`.trim();
  };
  const result = [];
  let room = charactersMax;
  for (const [index, [kind, text]] of pieces.entries()) {
    const piece = kind === "same" ? around(text, index) : text;
    result.push([kind, piece.length > room ? characters(piece, 0, room) + "…" : piece]);
    room -= piece.length;
    if (room <= 0) break;
  }
  return result;
}

/** A part of a text that splits no pair of surrogates. */
function characters(text, start, end) {
  return text.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}

/** Which of many rows of one height a box shows. Of more rows than a browser can lay out, a pixel of scrolling is several. */
class RowWindow {
  static heightMax = 8000000;
  /** Rows on both sides of the visible ones. */
  static margin = 6;

  constructor(count, rowHeight, boxHeight) {
    [this.count, this.rowHeight, this.boxHeight] = [count, rowHeight, boxHeight];
    this.whole = count * rowHeight;
    this.height = Math.min(this.whole, RowWindow.heightMax);
  }

  /** How far the rows are ahead of the place that the box is scrolled to. */
  shift(top) {
    const range = this.height - this.boxHeight;
    return this.whole > this.height && range > 0 ? (Math.min(top, range) / range) * (this.whole - this.height) : 0;
  }

  /** The first row to draw, the one behind the last, and the pixels above the first. */
  at(top) {
    const shift = this.shift(top);
    const first = Math.max(0, Math.floor((top + shift) / this.rowHeight) - RowWindow.margin);
    const end = Math.min(this.count, Math.ceil((top + shift + this.boxHeight) / this.rowHeight) + RowWindow.margin);
    return { first, end, offset: first * this.rowHeight - shift };
  }

  /** Where to scroll to so that a row is seen as a whole: as little as is needed. */
  scrollFor(row, top) {
    const [start, end] = [row * this.rowHeight, (row + 1) * this.rowHeight];
    const seen = top + this.shift(top);
    if (start >= seen && end <= seen + this.boxHeight) return top;
    const wanted = start < seen ? start : end - this.boxHeight;
    const scale = this.whole > this.height ? (this.height - this.boxHeight) / (this.whole - this.boxHeight) : 1;
    return Math.max(0, wanted * scale);
  }
}
