// A log of which the server gives what is asked: chunks of steps around a point, the axis, the next mark, what contains a text.
// It has the methods of a Timeline, and holds few chunks at a time.

class Served {
  /** The chunks that are held; the one used longest ago goes first. */
  static chunksMax = 8;

  /** The rows of a place that is asked for. */
  static rowsMin = 60;

  /** Made of the header of the whole log. With an event that is left out, it shows the log as if that had never arrived. */
  constructor(header, left) {
    this.header = header;
    this.left = left;
    this.first = Number(header.from);
    this.chunks = [];
    this.current = undefined;
    this.pending = new Map();
  }

  /** The same log as if an event had never arrived. */
  without(left) {
    return new Served({ ...this.header, profile: `${this.header.profile} without event ${left}` }, left);
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

  /** Loads what is missing to show a step and a place, with so many rows; undefined where nothing is. */
  ready(index, place, rows = 0) {
    if (this.has(index, place) && (place === undefined || this.chunk(index).rowsOf(place) >= rows)) return undefined;
    const [from, to] = this.bounds(index);
    const question = `chunk?from=${this.sequence(from)}&to=${this.sequence(to)}&rows=${Math.max(Served.rowsMin, rows)}${
      place === undefined ? "" : `&place=${encodeURIComponent(placeText(place))}`
    }${this.left === undefined ? "" : `&without=${this.left}`}`;
    if (!this.pending.has(question))
      this.pending.set(
        question,
        this.lines(question)
          .then((lines) => this.take(from, to, lines, place, rows))
          .finally(() => this.pending.delete(question)),
      );
    return this.pending.get(question);
  }

  /** The first and the last step of the chunk of a step. It begins behind one that was loaded when the log was shorter. */
  bounds(index) {
    const known = this.chunk(index);
    if (known) return [known.start + 1, known.end];
    const start = Math.floor((Math.max(index, 1) - 1) / this.header.chunk) * this.header.chunk;
    const end = Math.min(start + this.header.chunk, this.last);
    const before = this.chunks.filter((chunk) => chunk.start >= start && chunk.end < index).map((chunk) => chunk.end);
    return [Math.max(start, ...before) + 1, end];
  }

  take(from, to, lines, place, rows) {
    const isStep = (line) => line.changes !== undefined;
    const timeline = new Timeline([lines[0], ...lines.filter(isStep)], lines);
    const asked = new Map(place === undefined ? [] : [[place, rows]]);
    const chunk = { start: from - 1, end: to, timeline, rowsOf: (name) => asked.get(name) ?? 0 };
    const old = this.chunks.find((other) => other.start === chunk.start);
    if (old && old === this.current) {
      timeline.go(this.position - chunk.start);
      this.current = chunk;
    }
    this.chunks = [chunk, ...this.chunks.filter((other) => other !== old)].slice(0, Served.chunksMax);
  }

  /** Goes to a step that is loaded. */
  go(index) {
    const chunk = this.chunk(index);
    this.current = chunk;
    this.chunks = [chunk, ...this.chunks.filter((other) => other !== chunk)];
    chunk.timeline.go(index - chunk.start);
  }

  /** Loads the chunk behind the shown one before it is needed. */
  lookAhead(place) {
    const { current } = this;
    if (current && current.end < this.last && this.position > current.end - 32 && !this.chunk(current.end + 1))
      this.ready(current.end + 1, place)?.catch(() => undefined);
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

  // ---- Questions

  async ask(question, options) {
    const answer = await fetch(question, options).catch(() => undefined);
    if (!answer) throw new Error("logtool view has ended");
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer;
  }

  async lines(question) {
    const text = await (await this.ask(question)).text();
    return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  async document(question) {
    return (await this.ask(question)).json();
  }

  /** Whether the log has grown; the header then says how far. */
  async grown() {
    const [header] = await this.lines("head");
    const isGrown = header.to !== this.header.to;
    this.header = header;
    return isGrown;
  }

  /** The axis of some steps, in so many buckets at most; see Timeline.axis. */
  async axis(from, to, count, place) {
    const name = place === undefined ? "" : `&place=${encodeURIComponent(placeText(place))}`;
    const axis = await this.document(`axis?from=${this.sequence(from)}&to=${this.sequence(to)}&buckets=${count}${name}`);
    const index = (sequence) => Number(sequence) - this.first + 1;
    return {
      ...axis,
      from,
      to,
      times: axis.times.map((text) => Date.parse(text)),
      starts: axis.starts.map(index),
      gaps: axis.gaps.map((gap) => ({ ...gap, after: index(gap.after), through: index(gap.through) })),
    };
  }

  /** The next step with a mark, or one that concerns a channel; undefined if there is none. */
  async next(direction, place) {
    const name = place === undefined ? "" : `&place=${encodeURIComponent(placeText(place))}`;
    const { sequence } = await this.document(`next?from=${this.sequence(this.position)}${direction < 0 ? "&back=1" : ""}${name}`);
    return sequence === null ? undefined : this.indexOf(sequence);
  }

  /** The steps from one on whose events contain a text. */
  async search(text, from = 1) {
    const { found, next } = await this.document(`search?text=${encodeURIComponent(text)}&from=${this.sequence(from)}`);
    return {
      found: found.map((row) => ({ index: this.indexOf(row.sequence), name: `event ${row.sequence}`, text: row.text })),
      next: next === undefined || next === null ? undefined : Number(next) - this.first + 1,
    };
  }

  /** The versions of a thing, oldest first, and how many there are. */
  async history(entity) {
    const { entries, count } = await this.document(`history?entity=${encodeURIComponent(entity)}`);
    return {
      count,
      entries: entries.map((entry) => ({ index: this.indexOf(entry.sequence), sequence: entry.sequence, change: entry.change, fields: entry.fields })),
    };
  }

  /** The first and the last step of a day. */
  async day(date) {
    const { from, to } = await this.document(`day?date=${encodeURIComponent(date)}`);
    return [this.indexOf(from), this.indexOf(to)];
  }

  /** What the decoder file of an event's source read of it. */
  async reads(sequence) {
    return this.document(`reads?at=${sequence}`);
  }

  /** The connection of an event; see Timeline.connection. */
  async connection(event) {
    return this.document(`connection?at=${event.sequence}`);
  }

  /** The proof of an event, as prove --json has it. */
  async proof(sequence) {
    return this.document(`proof?at=${sequence}`);
  }
}
