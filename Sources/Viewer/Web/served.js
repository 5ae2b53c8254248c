// A log of which the server gives what is asked: chunks of steps around a point, the axis, the next mark, what contains a text.

class Served extends Chunked {
  /** Made of the header of the whole log. With an event that is left out, it shows the log as if that had never arrived. */
  constructor(header, left) {
    super(header, 4);
    this.left = left;
  }

  /** The same log as if an event had never arrived. */
  without(left) {
    return new Served({ ...this.header, profile: `${this.header.profile} without event ${left}` }, left);
  }

  /** The first and the last step of the chunk of a step. It begins behind one that was loaded when the log was shorter. */
  bounds(index) {
    const known = this.chunk(index);
    if (known && !known.timeline.header.alone) return [known.start + 1, known.end];
    const start = Math.floor((Math.max(index, 1) - 1) / this.header.chunk) * this.header.chunk;
    const end = Math.min(start + this.header.chunk, this.last);
    const before = this.chunks.filter((chunk) => !chunk.timeline.header.alone && chunk.start >= start && chunk.end < index).map((chunk) => chunk.end);
    return [Math.max(start, ...before) + 1, end];
  }

  /** A chunk, with a place where one is named; or the chunk of one step alone, if one is named and changes one place. */
  async load(from, to, place, rows, alone) {
    const name = place === undefined ? "" : `&place=${encodeURIComponent(placeText(place))}`;
    const left = this.left === undefined ? "" : `&without=${this.left}`;
    const at = alone === undefined || this.left !== undefined ? "" : `&at=${this.sequence(alone)}`;
    const lines = await this.lines(`chunk?from=${this.sequence(from)}&to=${this.sequence(to)}&rows=${Math.max(Chunked.rowsMin, rows)}${name}${left}${at}`);
    return new Timeline([lines[0], ...lines.filter((line) => line.changes !== undefined)], lines);
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
