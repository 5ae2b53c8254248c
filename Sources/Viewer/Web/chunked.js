// Some steps of a log at a time, in chunks. A server gives them, or the file that the page is.

/** A log of which few chunks are held. It has the methods of a Timeline. */
class Chunked {
  /** The rows of a place that is asked for. */
  static rowsMin = 60;

  /** Made of the header of the whole log, and how many chunks are held; the one used longest ago goes first. */
  constructor(header, chunksMax) {
    this.header = header;
    this.chunksMax = chunksMax;
    this.first = Number(header.from);
    this.chunks = [];
    this.current = undefined;
    this.pending = new Map();
    // The step that was shown last, and the chunk that is loaded before it is needed.
    this.seen = undefined;
    this.ahead = undefined;
  }

  get last() {
    return Number(this.header.to) - this.first + 1;
  }

  get position() {
    return this.current ? this.current.start + this.current.timeline.position : 0;
  }

  get rows() {
    return this.current.timeline.rows;
  }

  /** The loaded chunk with a step; of two, the one that is shown. */
  chunk(index) {
    const has = (chunk) => chunk.start < index && index <= chunk.end;
    if (this.current && has(this.current)) return this.current;
    return this.chunks.find(has) ?? (index === 0 ? this.chunks.find((chunk) => chunk.start === 0) : undefined);
  }

  /** The step at an index; undefined where it is not loaded. */
  step(index = this.position) {
    const chunk = index === this.position ? this.current : this.chunk(index);
    return chunk?.timeline.step(index - chunk.start);
  }

  event(index = this.position) {
    const chunk = index === this.position ? this.current : this.chunk(index);
    return chunk?.timeline.event(index - chunk.start);
  }

  sequence(index) {
    return this.first - 1 + index;
  }

  indexOf(sequence) {
    return Math.max(0, Math.min(Number(sequence) - this.first + 1, this.last));
  }

  /** Whether a step can be shown, with a place where one is named. */
  has(index, place) {
    const chunk = this.chunk(index);
    return chunk !== undefined && (place === undefined || chunk.timeline.knows(place));
  }

  /** Whether the shown step was loaded alone, with its place and no other one. */
  get isAlone() {
    return this.current?.timeline.header.alone === true;
  }

  /** Whether an event is among the steps. */
  holds(sequence) {
    return Number(sequence) >= this.first && Number(sequence) <= Number(this.header.to);
  }

  /** Loads what is missing to show a step and a place, with so many rows; undefined where nothing is. Of a jump the step alone will do. */
  ready(index, place, rows = 0, isJump = false) {
    if (this.has(index, place) && (place === undefined || this.chunk(index).rowsOf(place) >= rows)) return undefined;
    // Of one chunk, asked for twice, a server would fold the second one anew.
    if (this.ahead?.from <= index && index <= this.ahead.to && this.chunk(index) === undefined) return this.ahead.loaded;
    const isFar = isJump && index > 0 && rows === 0 && this.current !== undefined && this.chunk(index) === undefined && Math.abs(index - this.position) > 1;
    return this.request(index, place, rows, isFar ? index : undefined);
  }

  /** Loads the chunk of the shown step, if that was loaded alone; undefined where it was not. */
  whole(place) {
    return this.isAlone ? this.request(this.position, place, 0) : undefined;
  }

  request(index, place, rows, alone) {
    const [from, to] = this.bounds(index);
    const name = JSON.stringify([from, to, place, rows, alone]);
    if (!this.pending.has(name))
      this.pending.set(
        name,
        this.load(from, to, place, rows, alone)
          .then((timeline) => (timeline.header.alone ? this.take(index, index, timeline) : this.take(from, to, timeline, place, rows)))
          .finally(() => this.pending.delete(name)),
      );
    return this.pending.get(name);
  }

  take(from, to, timeline, place, rows) {
    // Meanwhile the whole chunk may have come.
    if (timeline.header.alone && this.chunk(from)) return;
    const asked = new Map(place === undefined ? [] : [[place, rows]]);
    const chunk = { start: from - 1, end: to, timeline, rowsOf: (name) => asked.get(name) ?? 0 };
    const isOld = (other) => other.start === chunk.start || (other.timeline.header.alone && other.start >= chunk.start && other.end <= chunk.end);
    if (this.current && isOld(this.current)) {
      timeline.go(this.position - chunk.start);
      this.current = chunk;
    }
    this.chunks = [chunk, ...this.chunks.filter((other) => !isOld(other))].slice(0, this.chunksMax);
  }

  /** Goes to a step that is loaded. */
  go(index) {
    const chunk = this.chunk(index);
    this.current = chunk;
    this.chunks = [chunk, ...this.chunks.filter((other) => other !== chunk)];
    chunk.timeline.go(index - chunk.start);
  }

  /** Loads the chunk behind the shown one before it is needed, of a page that goes on step by step. */
  lookAhead(place) {
    const { current, position } = this;
    const isStep = position === this.seen + 1;
    this.seen = position;
    if (!isStep || this.ahead || current.end >= this.last || position <= current.end - 24 || this.chunk(current.end + 1)) return;
    const [from, to] = this.bounds(current.end + 1);
    const loaded = this.request(from, place, 0)
      .catch(() => undefined)
      .finally(() => (this.ahead = undefined));
    this.ahead = { from, to, loaded };
  }

  places() {
    return this.current.timeline.places();
  }

  knows(place) {
    return this.current.timeline.knows(place);
  }

  messages(channel) {
    return this.current.timeline.messages(channel);
  }

  hiddenBefore(entity) {
    return this.current.timeline.hiddenBefore(entity);
  }

  hides(row) {
    return this.current.timeline.hides(row);
  }

  hiddenBehind(place) {
    return this.current.timeline.hiddenBehind(place);
  }
}
