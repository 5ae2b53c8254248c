// A log that is in the file of the page. Of its chunks those are unpacked that are shown, and others while something is searched.

class Filed extends Chunked {
  /** Made of the value of the block `index` and the lines of the block `log`. */
  constructor(index, pieces) {
    super(index, 2);
    this.pieces = pieces;
    this.gaps = index.gaps;
    this.connections = new Map(index.connections.map((row) => [`${row.source}\n${row.connection}`, row]));
    this.table = index.chunks.map(({ from, to, piece, pieces: count }) => ({ from: this.indexOf(from), to: this.indexOf(to), piece, count }));
    // By step, from 1: the time by a clock that never goes back, and the mark.
    this.times = new Float64Array(this.last + 1);
    let time = 0;
    index.times.forEach((distance, place) => {
      time += distance;
      this.times[place + 1] = Math.max(time, this.times[place]);
    });
    this.marks = new Map(
      Object.entries(index.marks).map(([mark, distances]) => {
        let step = 0;
        return [mark, Int32Array.from(distances, (distance) => (step += distance))];
      }),
    );
    // What a chunk names with texts of its own is not kept twice.
    for (const name of ["times", "marks", "chunks"]) delete index[name];
  }

  /** The chunk that has a step. */
  entry(index) {
    return this.table[Math.max(0, lowerBound(this.table, Math.max(index, 1) + 1, ({ from }) => from) - 1)];
  }

  bounds(index) {
    const { from, to } = this.entry(index);
    return [from, to];
  }

  /** A chunk. With more rows of a place than it begins with, all that are known there. */
  async load(from, to, place, rows) {
    const chunk = await this.unpacked(this.entry(from));
    if (place !== undefined && from > 1 && (rows > 0 || !new Timeline(chunk.steps.slice(0, 2), []).knows(place))) await this.addRows(chunk.steps, place, from);
    return this.timeline(chunk);
  }

  timeline({ steps, events }) {
    return new Timeline(steps, new Map(events.map((line, place) => [steps[place + 2].sequence, line])));
  }

  /** A chunk: the header, the first state and the steps as values, and the lines of the events. */
  async unpacked({ piece, count }, isWanted = () => true) {
    const [steps, events] = [[], []];
    for (const text of await Promise.all(this.pieces.slice(piece, piece + count).map(decompressed)))
      for (const line of text.split("\n")) {
        if (line === "") continue;
        if (line[0] !== " ") events.push(line);
        else if (isWanted(line)) steps.push(JSON.parse(line));
      }
    return { steps, events };
  }

  /** Lends the chunks from the one with a step on until that gives true. */
  async forEach(index, body, isWanted) {
    for (const entry of this.table.slice(this.table.indexOf(this.entry(index)))) {
      if (body(await this.unpacked(entry, isWanted), entry)) return;
    }
  }

  /** Puts all rows of a place into the state that a chunk begins with: folded from the first one, which has all. */
  async addRows([header, first], place, from) {
    const rows = new Map();
    await this.forEach(1, ({ steps }, entry) => {
      if (entry.from >= from) return true;
      // Only the first chunk begins with all rows; what the others begin with is known by then.
      for (const { changes, orders } of steps.slice(entry.from === 1 ? 1 : 2))
        for (const change of changes) {
          if (placeOf(change.entity) !== place) continue;
          const row = changed(rows.get(change.entity), change, orders);
          if (row) rows.set(change.entity, row);
          else rows.delete(change.entity);
        }
    });
    const isOther = (entity) => placeOf(entity) !== place || parts(entity).kind === "channel";
    first.changes = first.changes.filter(({ entity }) => isOther(entity));
    first.orders ??= {};
    for (const row of rows.values()) {
      if (isOther(row.entity)) continue;
      first.changes.push({ entity: row.entity, change: "added", fields: Object.fromEntries(Object.entries(row.fields).map(([name, b]) => [name, { b }])) });
      if (row.order !== undefined) first.orders[row.entity] = row.order;
    }
    for (const entity of Object.keys(header.hidden)) if (!isOther(entity)) delete header.hidden[entity];
    const known = header.places.find((named) => placeKey(named.place) === place);
    if (known) known.hidden = 0;
  }

  // ---- Questions

  /** See Timeline.axis. */
  async axis(from, to, count, place) {
    const times = [this.times[from], this.times[to]];
    const isTimed = times[1] > times[0];
    const buckets = isTimed ? count : Math.max(1, Math.min(count, to - from + 1));
    const begin = (bucket) => (isTimed ? this.stepAt(times[0] + ((times[1] - times[0]) * bucket) / buckets) : from + Math.floor(((to - from + 1) * bucket) / buckets));
    const starts = [from, ...Array.from({ length: buckets - 1 }, (_, bucket) => Math.max(from, Math.min(to + 1, begin(bucket + 1)))), to + 1];
    const among = (list) => starts.slice(1).map((end, bucket) => lowerBound(list, end) - lowerBound(list, starts[bucket]));
    const counts = place === undefined ? starts.slice(1).map((end, bucket) => end - starts[bucket]) : among(await this.stepsOf(place));
    const marks = {};
    for (const [mark, list] of this.marks) marks[mark] = among(list).flatMap((many, bucket) => (many > 0 ? [[bucket, many]] : []));
    const last = (time) => this.stepAt(Date.parse(time) + 1) - 1;
    const gaps = this.gaps.map((gap) => ({ ...gap, after: last(gap.from), through: gap.to === undefined ? to : last(gap.to) }));
    const shown = gaps.filter((gap) => gap.through >= from && gap.after <= to);
    return { from, to, times: isTimed ? times : [], starts, counts, marks, gaps: shown, gapCount: shown.length };
  }

  /** The first step that is not before a time. */
  stepAt(time) {
    return lowerBound(this.times, time, undefined, 1);
  }

  /** The steps that change a place; kept of the last one that was asked for. */
  async stepsOf(place) {
    if (this.known?.place === place) return this.known.steps;
    const steps = [];
    await this.forEach(1, (chunk, { from }) => {
      chunk.steps.slice(2).forEach((step, index) => {
        if (step.changes.some((change) => placeOf(change.entity) === place)) steps.push(from + index);
      });
    });
    this.known = { place, steps };
    return steps;
  }

  async next(direction, place) {
    const lists = place === undefined ? [...this.marks.values()] : [await this.stepsOf(place)];
    const { position } = this;
    const found = lists.map((list) => (direction > 0 ? list[lowerBound(list, position + 1)] : list[lowerBound(list, position) - 1])).filter((index) => index !== undefined);
    return found.length > 0 ? (direction > 0 ? Math.min : Math.max)(...found) : undefined;
  }

  /** See Timeline.search. */
  async search(text, from = 0) {
    const found = [];
    let next;
    await this.forEach(from, (chunk, { from: begin, to }) => {
      const part = this.timeline(chunk);
      // The first state of a chunk but the first is told by the steps before.
      const start = begin === 1 ? 0 : 1;
      const answer = part.search(text, Math.max(start, from - begin + 1));
      found.push(...answer.found.map((row) => ({ ...row, index: row.index + begin - 1 })));
      next = answer.next === undefined ? to + 1 : answer.next + begin - 1;
      return found.length >= 200;
    });
    return { found, next: next <= this.last ? next : undefined };
  }

  /** See Timeline.history. */
  async history(entity) {
    const entries = [];
    // A line without its name, as a line has it, is not read.
    const name = JSON.stringify(entity).slice(1, -1);
    const isWanted = (line) => line.includes(name) || line.includes('"format"');
    await this.forEach(1, ({ steps }, { from }) => {
      for (const step of steps.slice(1)) {
        const index = Number(step.sequence) - this.first + 1;
        // The first state of a chunk but the first is told by the steps before.
        if (index < from && from > 1) continue;
        for (const { entity: thing, change, fields } of step.changes) {
          if (thing !== entity) continue;
          const told = Object.fromEntries(Object.entries(fields).map(([member, values]) => [member, values.b]));
          entries.push({ index, sequence: index === 0 ? undefined : step.sequence, change, fields: told });
        }
      }
    }, isWanted);
    return { entries, count: entries.length };
  }

  day(date) {
    const begin = Date.parse(date + "T00:00:00Z");
    const [from, to] = [this.stepAt(begin), this.stepAt(begin + 86400000) - 1];
    if (!(from <= to)) throw new Error("there is no event on that day");
    return [from, to];
  }

  connection(event) {
    return this.connections.get(`${event.source}\n${event.attributes.connection}`);
  }

  /** A page that is a file has no tree of the log. */
  proof() {
    return undefined;
  }
}

/** The first place of an ascending list, from a first one on, whose key is not less than a value. */
function lowerBound(list, value, key = (element) => element, first = 0) {
  let [low, high] = [first, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
