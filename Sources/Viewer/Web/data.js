// The steps of a log (eventlog.steps/1), and the rows at each of them.

/** The steps of a log, and the rows at one of them. Step 0 is the state before the first event. */
class Timeline {
  /** Made of the values of the two blocks. Events may also be given by their sequences, as lines that are read once they are shown. */
  constructor(steps, exported) {
    this.header = steps[0];
    const end = steps.find((line) => line.gaps !== undefined);
    this.gaps = end?.gaps ?? [];
    this.connections = new Map((end?.connections ?? []).map((row) => [`${row.source}\n${row.connection}`, row]));
    this.steps = steps.slice(1).filter((line) => line.changes !== undefined);
    // Of a chunk: how many rows each place has before its steps, and how many are left out behind the last one.
    this.counts = this.header.places && new Map(this.header.places.map(({ place, count, hidden }) => [placeKey(place), { count, hidden }]));
    const isEvent = (line) => line.sequence !== undefined && line.changes === undefined;
    this.events = exported instanceof Map ? exported : new Map(exported.filter(isEvent).map((line) => [line.sequence, line]));
    this.rows = new Map();
    this.channels = new Map();
    // By place: the rows that are here, and those of them that count; what the steps so far added to a chunk's counts.
    this.tallies = new Map();
    this.grown = new Map();
    // The list of the places, and those whose counts changed since it was asked for.
    this.listed = undefined;
    this.counted = new Set();
    this.undo = [];
    this.position = -1;
    this.go(0);
  }

  get last() {
    return this.steps.length - 1;
  }

  step(index = this.position) {
    return this.steps[index];
  }

  /** The exported event of a step; undefined for the first state. */
  event(index = this.position) {
    const event = this.events.get(this.steps[index]?.sequence);
    return typeof event === "string" ? JSON.parse(event) : event;
  }

  /** The index of the last step whose event is not after a sequence. */
  indexOf(sequence) {
    let [low, high] = [0, this.last];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (BigInt(this.steps[middle].sequence) <= sequence) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Whether the rows of a place are here: of a chunk, which has those of some places, and says of which. */
  knows(place) {
    if (!this.counts) return true;
    const known = this.counts.get(place);
    // What the chunk does not name has no rows before its steps; of a step alone nothing else is known.
    return known === undefined ? !this.header.alone : known.hidden !== undefined;
  }

  /** The places that have rows, by name, with how many; deleted messages and the channels themselves are not counted. The list is the same from step to step. */
  places() {
    for (const key of this.counted) {
      const place = this.listed?.find((known) => known.key === key);
      // One that came or went has the list made anew.
      if ((place !== undefined) !== this.isListed(key)) this.listed = undefined;
      else if (place) place.count = this.count(key);
    }
    this.counted.clear();
    if (!this.listed) {
      const keys = new Set([...this.tallies.keys(), ...(this.counts?.keys() ?? []), ...this.grown.keys()]);
      const places = [...keys].filter((key) => this.isListed(key)).map((key) => ({ key, count: this.count(key) }));
      this.listed = places.sort((left, right) => compare(left.key, right.key));
    }
    return this.listed;
  }

  count(key) {
    return (this.tallies.get(key)?.count ?? 0) + (this.counts?.get(key)?.count ?? 0) + (this.grown.get(key) ?? 0);
  }

  isListed(key) {
    if (!this.counts) return this.tallies.has(key);
    const isNamed = this.counts.has(key) || (key.startsWith("channel\n") && (this.tallies.has(key) || this.grown.has(key)));
    return isNamed || this.count(key) > 0;
  }

  /** How many messages before one, behind the one that is shown before it, are not here. */
  hiddenBefore(entity) {
    return this.header.hidden?.[entity] ?? 0;
  }

  /** How many rows of a place behind the last one are not here. */
  hiddenBehind(place) {
    return this.counts?.get(place)?.hidden ?? 0;
  }

  /** Whether a row may be among those of a chunk that are not here. */
  hides(row) {
    const place = placeOf(row.entity);
    if (parts(row.entity).kind !== "message") return this.hiddenBehind(place) > 0;
    const [, source, channel] = place.split("\n");
    const next = this.messages(`${source}/${channel}`).find((known) => compare(known.order ?? "", row.order ?? "") > 0);
    return next ? this.hiddenBefore(next.entity) > 0 : this.hiddenBehind(place) > 0;
  }

  // ---- The same questions as to a log in chunks

  /** Whether an event is among the steps. */
  holds(sequence) {
    return this.events.has(String(sequence));
  }

  ready() {
    return undefined;
  }

  lookAhead() {}

  sequence(index) {
    return this.steps[index].sequence;
  }

  /** The axis of some steps: the first step of each bucket, and the one behind the last; what each changed, or how many events a channel has there; the buckets with marks; the gaps. */
  axis(from, to, count, place) {
    const when = (index) => Date.parse(this.event(index)?.recordedAt);
    const times = [when(from), when(to)];
    const isTimed = times[1] > times[0];
    const buckets = isTimed ? count : Math.max(1, Math.min(count, to - from + 1));
    const bucket = (index) =>
      Math.min(buckets - 1, Math.floor(isTimed ? ((latest - times[0]) / (times[1] - times[0])) * buckets : ((index - from) / (to - from + 1)) * buckets));
    const [starts, counts, marks] = [[from], new Array(buckets).fill(0), {}];
    let latest = times[0];
    for (let index = from; index <= to; index++) {
      // A clock that was set back does not turn the axis.
      latest = Math.max(latest, when(index) || latest);
      const place_ = Math.max(0, bucket(index));
      while (starts.length <= place_) starts.push(index);
      const step = this.step(index);
      if (place === undefined || step.changes.some((change) => placeOf(change.entity) === place)) counts[place_]++;
      const mark = markOf(step, this.event(index));
      if (!mark) continue;
      const list = (marks[mark] ??= []);
      if (list.at(-1)?.[0] === place_) list.at(-1)[1]++;
      else list.push([place_, 1]);
    }
    while (starts.length <= buckets) starts.push(to + 1);
    const last = (time) => {
      let found = from - 1;
      for (let index = from; index <= to && when(index) <= Date.parse(time); index++) found = index;
      return found;
    };
    const gaps = this.gaps.map((gap) => ({ ...gap, after: last(gap.from), through: gap.to === undefined ? to : last(gap.to) }));
    const shown = gaps.filter((gap) => gap.through >= from && gap.after <= to);
    return { from, to, times: isTimed ? times : [], starts, counts, marks, gaps: shown, gapCount: shown.length };
  }

  /** The next step with a mark, or one that changes a place. */
  next(direction, place) {
    for (let index = this.position + direction; index > 0 && index <= this.last; index += direction) {
      const step = this.step(index);
      if (place === undefined ? markOf(step, this.event(index)) : step.changes.some((change) => placeOf(change.entity) === place)) return index;
    }
    return undefined;
  }

  /** The steps from one on whose changes or payload contain a text, in whatever case; at most 200. */
  search(text, from = 0) {
    const wanted = text.toLowerCase();
    const found = [];
    let index = from;
    for (; index <= this.last && found.length < 200; index++) {
      const step = this.step(index);
      const texts = step.changes.flatMap((change) => [change.entity, ...Object.values(change.fields).flatMap((values) => [values.a, values.b])]);
      const hit = [...texts, this.event(index)?.payload].find((value) => typeof value === "string" && value.toLowerCase().includes(wanted));
      if (hit !== undefined) found.push({ index, name: index === 0 ? "before" : `event ${step.sequence}`, text: around(hit, wanted) });
    }
    return { found, next: index <= this.last ? index : undefined };
  }

  /** The versions of a thing: every step that changed it. */
  history(entity) {
    const entries = [];
    this.steps.forEach((step, index) => {
      for (const change of step.changes)
        if (change.entity === entity) {
          const fields = Object.fromEntries(Object.entries(change.fields).map(([name, values]) => [name, values.b]));
          entries.push({ index, sequence: index === 0 ? undefined : step.sequence, change: change.change, fields });
        }
    });
    return { entries, count: entries.length };
  }

  /** The first and the last step of a day. */
  day(date) {
    const days = this.steps.flatMap((_, index) => (this.event(index)?.recordedAt?.startsWith(date) ? [index] : []));
    if (days.length === 0) throw new Error("there is no event on that day");
    return [days[0], days.at(-1)];
  }

  /** The connection of an event, with the events at which it began, was greeted and ended. */
  connection(event) {
    return this.connections.get(`${event.source}\n${event.attributes.connection}`);
  }

  /** A page that is a file has no tree of the log. */
  proof() {
    return undefined;
  }

  // ---- Moving

  /** Goes to a step. What the way there changed is put right again by what each step noted. */
  go(index) {
    const target = Math.max(0, Math.min(index, this.last));
    while (this.position < target) this.forward();
    while (this.position > target) this.backward();
  }

  forward() {
    const step = this.steps[++this.position];
    const before = [];
    for (const change of step.changes) {
      const known = this.rows.get(change.entity);
      before.push([change.entity, known]);
      this.put(change.entity, changed(known, change, step.orders));
    }
    this.undo[this.position] = before;
    this.grow(1);
  }

  backward() {
    this.grow(-1);
    for (const [entity, row] of this.undo[this.position--].slice().reverse()) this.put(entity, row);
  }

  /** Counts what the step at hand adds to the places of a chunk, or takes it off again. */
  grow(sign) {
    if (!this.counts || this.position === 0) return;
    for (const change of this.step().changes) {
      const key = placeOf(change.entity);
      const { kind } = parts(change.entity);
      if (key === undefined || kind === "issue" || kind === "channel") continue;
      this.grown.set(key, (this.grown.get(key) ?? 0) + sign * growth(change));
      this.counted.add(key);
    }
  }

  /** Counts a row in its place, or no longer. Of a chunk only issues count, for of these it has all rows. */
  tally(place, kind, row, sign) {
    if (row === undefined || place === undefined) return;
    const isCounted = kind !== "channel" && !row.isGone && (!this.counts || kind === "issue");
    const known = this.tallies.get(place) ?? { rows: 0, count: 0 };
    this.counted.add(place);
    known.rows += sign;
    known.count += isCounted ? sign : 0;
    if (known.rows === 0) this.tallies.delete(place);
    else this.tallies.set(place, known);
  }

  put(entity, row) {
    const name = parts(entity);
    const place = placeOf(entity, name);
    this.tally(place, name.kind, this.rows.get(entity), -1);
    this.tally(place, name.kind, row, 1);
    if (row === undefined) this.rows.delete(entity);
    else this.rows.set(entity, row);
    if (name.kind !== "message") return;
    const key = name.parts[0] + "/" + name.parts[1];
    let ids = this.channels.get(key);
    if (!ids) this.channels.set(key, (ids = new Set()));
    if (row === undefined) ids.delete(entity);
    else ids.add(entity);
  }

  /** The messages of a channel in the remote's order; those that are deleted stay where they stood. */
  messages(channel) {
    const rows = [...(this.channels.get(channel) ?? [])].map((entity) => this.rows.get(entity));
    return rows.sort((left, right) => compare(left.order ?? "", right.order ?? "") || compare(left.entity, right.entity));
  }
}
