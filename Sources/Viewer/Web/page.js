"use strict";
// The page of a report: shows the steps of a log (eventlog.steps/1) and the events behind them. Everything that comes from the log
// becomes text; nothing of it becomes markup.

// ---- Data

/** The JSON values of a block of data: each of its lines is a gzip member in base64, with lines of JSON. */
async function values(text) {
  const pieces = await Promise.all(text.split("\n").filter((line) => line !== "").map(decompressed));
  return pieces.flatMap((piece) => piece.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line)));
}

async function decompressed(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const plain =
    typeof DecompressionStream === "undefined"
      ? inflated(bytes)
      : await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  return new TextDecoder().decode(plain);
}

/** What a gzip member without optional fields expands to (RFC 1951 and 1952), for browsers that cannot do it themselves. */
function inflated(bytes) {
  const bases = (extra, first) => extra.map(((next) => (bits) => ((next += 1 << bits), next - (1 << bits)))(first));
  const lengthBits = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
  const distanceBits = [0, 0, 0, 0, ...Array.from({ length: 26 }, (_, index) => (index >> 1) + 1)];
  const [lengths, distances] = [bases(lengthBits, 3), bases(distanceBits, 1)];
  lengths[28] = 258;
  const size = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true);
  const output = new Uint8Array(size);
  let [place, bit, end] = [10, 0, 0];
  const take = (count) => {
    let value = 0;
    for (let index = 0; index < count; index++) {
      value |= ((bytes[place] >> bit) & 1) << index;
      if (++bit === 8) [bit, place] = [0, place + 1];
    }
    return value;
  };
  const table = (sizes) => {
    const counts = new Array(16).fill(0);
    for (const count of sizes) counts[count]++;
    counts[0] = 0;
    const starts = [0];
    for (let index = 1; index < 16; index++) starts[index] = starts[index - 1] + counts[index - 1];
    const symbols = [];
    sizes.forEach((count, symbol) => {
      if (count > 0) symbols[starts[count]++] = symbol;
    });
    return { counts, symbols };
  };
  const symbol = ({ counts, symbols }) => {
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length < 16; length++) {
      code |= take(1);
      if (code - counts[length] < first) return symbols[index + code - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
    throw new Error("the data is damaged");
  };
  const fixed = [
    table(Array.from({ length: 288 }, (_, index) => (index < 144 ? 8 : index < 256 ? 9 : index < 280 ? 7 : 8))),
    table(new Array(30).fill(5)),
  ];
  const dynamic = () => {
    const [literals, offsets, codes] = [take(5) + 257, take(5) + 1, take(4) + 4];
    const sizes = new Array(19).fill(0);
    const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    for (let index = 0; index < codes; index++) sizes[order[index]] = take(3);
    const lengthTable = table(sizes);
    const all = [];
    while (all.length < literals + offsets) {
      const next = symbol(lengthTable);
      if (next < 16) all.push(next);
      else if (next === 16) all.push(...new Array(3 + take(2)).fill(all[all.length - 1]));
      else all.push(...new Array(next === 17 ? 3 + take(3) : 11 + take(7)).fill(0));
    }
    return [table(all.slice(0, literals)), table(all.slice(literals))];
  };
  for (let isLast = false; !isLast; ) {
    isLast = take(1) === 1;
    const kind = take(2);
    if (kind === 0) {
      if (bit > 0) [bit, place] = [0, place + 1];
      const count = bytes[place] | (bytes[place + 1] << 8);
      output.set(bytes.subarray(place + 4, place + 4 + count), end);
      [place, end] = [place + 4 + count, end + count];
      continue;
    }
    const [literals, offsets] = kind === 1 ? fixed : dynamic();
    for (let next = symbol(literals); next !== 256; next = symbol(literals)) {
      if (next < 256) output[end++] = next;
      else {
        const count = lengths[next - 257] + take(lengthBits[next - 257]);
        const code = symbol(offsets);
        const distance = distances[code] + take(distanceBits[code]);
        for (let index = 0; index < count; index++, end++) output[end] = output[end - distance];
      }
    }
  }
  return output;
}

/** The steps of a log, and the rows at one of them. Step 0 is the state before the first event. */
class Timeline {
  /** Made of the values of the two blocks. */
  constructor(steps, exported) {
    this.header = steps[0];
    this.steps = steps.slice(1);
    this.events = new Map(exported.filter((line) => line.sequence !== undefined).map((line) => [line.sequence, line]));
    this.rows = new Map();
    this.channels = new Map();
    this.undo = [];
    this.position = -1;
    this.go(0);
  }

  /** Adds steps and exported events that came later. */
  add(lines) {
    for (const line of lines) {
      if (line.changes === undefined) this.events.set(line.sequence, line);
      else this.steps.push(line);
    }
  }

  get last() {
    return this.steps.length - 1;
  }

  step(index = this.position) {
    return this.steps[index];
  }

  /** The exported event of a step; undefined for the first state. */
  event(index = this.position) {
    return this.events.get(this.steps[index].sequence);
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
  }

  backward() {
    for (const [entity, row] of this.undo[this.position--].slice().reverse()) this.put(entity, row);
  }

  put(entity, row) {
    if (row === undefined) this.rows.delete(entity);
    else this.rows.set(entity, row);
    const name = parts(entity);
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

/** A row with a change: whole where it is new, else with the members that changed. */
function changed(known, change, orders) {
  if (change.change === "removed") return undefined;
  const row = { ...(known ?? { entity: change.entity, fields: {} }) };
  row.fields = { ...row.fields };
  for (const [name, values] of Object.entries(change.fields)) {
    if (values.b === undefined) delete row.fields[name];
    else row.fields[name] = values.b;
  }
  if (change.change === "deleted") row.isGone = true;
  if (change.change === "restored") row.isGone = false;
  const order = orders?.[change.entity];
  if (order !== undefined) row.order = order;
  return row;
}

/** Compares texts by their UTF-8 bytes, as the log orders them. */
function compare(left, right) {
  const count = Math.min(left.length, right.length);
  for (let index = 0; index < count; index++) {
    const [here, there] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (here !== there) return rank(here) - rank(there);
  }
  return left.length - right.length;
}

/** A code unit in the order of UTF-8: the halves of a pair stand for code points behind all others. */
function rank(unit) {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** The kind and the parts of an entity's name; `%2F` and its like stand for slashes within a part. */
function parts(entity) {
  const colon = entity.indexOf(":");
  return { kind: entity.slice(0, colon), parts: entity.slice(colon + 1).split("/") };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The words of two texts, as [kind, words]: "same", "gone" or "new". Long texts are compared as a whole. */
function wordDifference(before, after) {
  const [a, b] = [before.split(/(\s+)/), after.split(/(\s+)/)];
  if (a.length * b.length > 250000) return [["gone", before], ["new", after]];
  const length = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const found = [];
  const add = (kind, text) => {
    if (found.length > 0 && found[found.length - 1][0] === kind) found[found.length - 1][1] += text;
    else found.push([kind, text]);
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i++]);
      j++;
    } else if (j === b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) add("gone", a[i++]);
    else add("new", b[j++]);
  }
  return found;
}

/** What a step is marked as on the axis; undefined where nothing is. */
function markOf(step, event) {
  const kinds = new Set(step.changes.map((change) => change.change + " " + parts(change.entity).kind));
  if (kinds.has("added issue")) return "issue";
  if (kinds.has("deleted message")) return "delete";
  if (kinds.has("changed message") || kinds.has("restored message")) return "edit";
  if (event?.kind === "recorder.gap/1") return "gap";
  if (event?.kind === "recorder.link/1") return "link";
  return undefined;
}

// ---- Elements

/** An element with attributes and children; a child that is a text becomes text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

const byID = (id) => document.getElementById(id);

/** A text as a log has it, in its own direction. Control characters and marks of direction are written out. */
function shown(text) {
  return String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

const time = (text) => (text ?? "").replace("T", " ").replace(/\.?0*Z$/, "");

// ---- The page

class Page {
  constructor(timeline) {
    this.timeline = timeline;
    this.place = undefined;
    this.chosen = undefined;
    this.timer = undefined;
    this.shownMax = 200;
    this.names = new Map();
    this.drawHead();
    this.listen();
    this.show(this.timeline.last);
  }

  drawHead() {
    const { header, last } = this.timeline;
    byID("about").textContent =
      `${last} steps, events ${header.from} to ${header.to} of ${header.size}, read as ${header.profile}; root ${header.root}`;
    byID("slider").max = String(last);
    this.drawAxis();
  }

  drawAxis() {
    const canvas = byID("density");
    const width = Math.max(1, canvas.clientWidth || canvas.parentElement.clientWidth || 600);
    canvas.width = width;
    const context = canvas.getContext("2d");
    if (!context) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue("--" + name).trim();
    const count = new Array(width).fill(0);
    const marks = new Map();
    for (let index = 1; index <= this.timeline.last; index++) {
      const x = Math.min(width - 1, Math.floor((index / Math.max(1, this.timeline.last)) * width));
      count[x] += this.timeline.step(index).changes.length;
      const mark = markOf(this.timeline.step(index), this.timeline.event(index));
      if (mark) marks.set(mark + x, [mark, x]);
    }
    const most = Math.max(1, ...count);
    context.fillStyle = colour("quiet");
    count.forEach((value, x) => context.fillRect(x, 24 - (value / most) * 22, 1, (value / most) * 22));
    for (const [mark, x] of marks.values()) {
      context.fillStyle = colour(mark);
      context.fillRect(x, 26, 2, 10);
    }
  }

  listen() {
    const click = (id, action) => byID(id).addEventListener("click", action);
    click("first", () => this.show(0));
    click("back", () => this.move(-1));
    click("on", () => this.move(1));
    click("last", () => this.show(this.timeline.last));
    click("play", () => this.play());
    click("help-open", () => this.help());
    byID("slider").addEventListener("input", (event) => this.show(Number(event.target.value)));
    byID("sequence").addEventListener("change", (event) => this.goTo(event.target.value));
    byID("search").addEventListener("input", (event) => this.search(event.target.value));
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.drawAxis());
    addEventListener("hashchange", () => this.follow());
  }

  /** Goes to the event that the address names, as `#17`. */
  follow() {
    if (/^#\d+$/.test(location.hash)) this.goTo(location.hash.slice(1));
  }

  goTo(text) {
    if (/^\d+$/.test(text.trim())) this.show(this.timeline.indexOf(BigInt(text.trim())));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isText = event.target.tagName === "INPUT" && event.target.type !== "range";
    if (event.key === "Escape") return this.close();
    if (isText || event.target.tagName === "SELECT") return;
    const keys = {
      ArrowRight: () => (event.shiftKey ? this.moveWithin(1) : this.move(1)),
      ArrowLeft: () => (event.shiftKey ? this.moveWithin(-1) : this.move(-1)),
      Home: () => this.show(0),
      End: () => this.show(this.timeline.last),
      " ": () => this.play(),
      n: () => this.mark(1),
      p: () => this.mark(-1),
      "+": () => this.faster(1),
      "-": () => this.faster(-1),
      "/": () => byID("search").focus(),
      c: () => byID("content").focus(),
      e: () => byID("event").focus(),
      "?": () => this.help(),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  move(count) {
    this.show(this.timeline.position + count);
  }

  /** Goes to the next step that changed something in the place that is shown. */
  moveWithin(direction) {
    this.seek(direction, (step) => step.changes.some((change) => placeOf(change.entity) === this.place));
  }

  /** Goes to the next edit, deletion, gap, reconnection or issue. */
  mark(direction) {
    this.seek(direction, (step, index) => markOf(step, this.timeline.event(index)) !== undefined);
  }

  seek(direction, isWanted) {
    const { timeline } = this;
    for (let index = timeline.position + direction; index > 0 && index <= timeline.last; index += direction)
      if (isWanted(timeline.step(index), index)) return this.show(index);
  }

  play() {
    const isPlaying = this.timer !== undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
    byID("play").setAttribute("aria-pressed", String(!isPlaying));
    byID("play").setAttribute("aria-label", isPlaying ? "Play" : "Stop");
    if (isPlaying) return;
    if (this.timeline.position === this.timeline.last) this.show(0);
    this.wait();
  }

  wait() {
    const { timeline } = this;
    if (timeline.position >= timeline.last) return this.play();
    const factor = Number(byID("speed").value);
    const [now, next] = [timeline.event(), timeline.event(timeline.position + 1)].map((event) =>
      event ? Date.parse(event.recordedAt) : NaN,
    );
    const pause = factor === 0 || Number.isNaN(next - now) ? 200 : Math.min(10000, Math.max(0, (next - now) / factor));
    this.timer = setTimeout(() => {
      this.move(1);
      if (this.timer !== undefined) this.wait();
    }, pause);
  }

  faster(direction) {
    const speed = byID("speed");
    speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + direction));
  }

  show(index) {
    this.timeline.go(index);
    const { timeline } = this;
    const [step, event] = [timeline.step(), timeline.event()];
    byID("slider").value = String(timeline.position);
    byID("sequence").value = step.sequence;
    byID("now").textContent = event
      ? `Event ${step.sequence}, recorded ${time(event.recordedAt)}, ${event.source}`
      : `Before event ${timeline.header.from}`;
    const touched = step.changes.map((change) => placeOf(change.entity)).find((place) => place !== undefined);
    if (timeline.position > 0 && touched !== undefined && !this.isPinned) this.place = touched;
    if (this.place === undefined) this.place = this.places()[0]?.key;
    this.drawPlaces();
    this.drawContent();
    this.drawEvent();
    this.drawHistory();
  }

  /** Asks the server that the page comes from for later steps, each second. At the end it stays at the end. */
  async poll() {
    const { timeline } = this;
    const answer = await fetch(`more?after=${timeline.step(timeline.last).sequence}`).catch(() => undefined);
    if (answer?.ok) {
      const lines = (await answer.text()).split("\n").filter((line) => line !== "");
      if (lines.length > 0) {
        const isAtEnd = timeline.position === timeline.last;
        timeline.add(lines.map((line) => JSON.parse(line)));
        byID("slider").max = String(timeline.last);
        this.drawAxis();
        if (isAtEnd) this.show(timeline.last);
      }
    } else if (answer) return (byID("now").textContent = `No longer followed: ${await answer.text()}`);
    setTimeout(() => this.poll(), 1000);
  }

  // ---- Left: where things are

  /** The channels, lists and tables that have rows, by name. */
  places() {
    const places = new Map();
    for (const row of this.timeline.rows.values()) {
      const key = placeOf(row.entity);
      if (key === undefined) continue;
      const place = places.get(key) ?? { key, count: 0 };
      if (parts(row.entity).kind !== "channel" && !row.isGone) place.count++;
      places.set(key, place);
    }
    return [...places.values()].sort((left, right) => compare(left.key, right.key));
  }

  drawPlaces() {
    const lit = new Set(this.timeline.step().changes.map((change) => placeOf(change.entity)));
    const items = this.places().map((place) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            "aria-current": place.key === this.place ? "true" : undefined,
            class: lit.has(place.key) && this.timeline.position > 0 ? "lit" : undefined,
            onclick: () => this.choose(place.key),
          },
          element("bdi", {}, shown(this.title(place.key))),
          " ",
          element("span", { class: "quiet" }, String(place.count)),
        ),
      ),
    );
    byID("places").replaceChildren(element("ul", {}, ...items));
  }

  /** Shows a place, and stays there when steps change another one. */
  choose(key) {
    this.isPinned = this.place === key ? !this.isPinned : true;
    this.place = key;
    this.shownMax = 200;
    this.show(this.timeline.position);
  }

  title(key) {
    const [kind, source, id] = key.split("\n");
    const row = this.timeline.rows.get(`channel:${source}/${id}`);
    const name = kind === "channel" ? (row?.fields.name ?? decoded(id)) : `${kind} ${decoded(id ?? "")}`;
    return `${decoded(source)} / ${name}`;
  }

  // ---- Middle: what people saw

  drawContent() {
    const content = byID("content");
    if (this.place === undefined) return content.replaceChildren(element("p", { class: "quiet" }, "Nothing yet."));
    const [kind, source, id] = this.place.split("\n");
    const heading = element("h2", { dir: "auto" }, shown(this.title(this.place)));
    const pinned = this.isPinned ? element("p", { class: "quiet" }, "Stays here; choose it again to follow the steps.") : null;
    const rows = kind === "channel" ? this.drawMessages(`${source}/${id}`) : this.drawRows();
    content.replaceChildren(heading, ...(pinned ? [pinned] : []), rows);
    const lit = content.querySelector(".lit");
    if (!lit) return;
    // Only within the chat: the page itself stays where the reader put it.
    const [box, row] = [content.getBoundingClientRect(), lit.getBoundingClientRect()];
    if (row.top < box.top || row.bottom > box.bottom) content.scrollTop += row.top - box.top - (box.height - row.height) / 2;
  }

  drawMessages(channel) {
    const messages = this.timeline.messages(channel);
    const changes = new Map(
      this.timeline.position > 0 ? this.timeline.step().changes.map((change) => [change.entity, change]) : [],
    );
    const lit = messages.findIndex((row) => changes.has(row.entity));
    const end = lit < 0 ? messages.length : Math.min(messages.length, lit + this.shownMax / 2);
    const start = Math.max(0, end - this.shownMax);
    const depths = new Map();
    const items = messages.slice(start, end).map((row) => {
      const parent = row.fields.replyTo?.id ?? row.fields.replyTo;
      const name = parts(row.entity).parts;
      const above = parent === undefined ? undefined : `message:${name[0]}/${name[1]}/${encoded(parent)}`;
      const depth = above === undefined ? 0 : Math.min(8, (depths.get(above) ?? 0) + 1);
      depths.set(row.entity, depth);
      return this.drawMessage(row, depth, above, changes.get(row.entity));
    });
    const more = (count, where) =>
      count > 0
        ? element(
            "li",
            {},
            element(
              "button",
              { type: "button", onclick: () => ((this.shownMax *= 4), this.drawContent()) },
              `${count} ${where}: show more`,
            ),
          )
        : null;
    return element("ol", { class: "messages" }, more(start, "earlier"), ...items, more(messages.length - end, "later"));
  }

  drawMessage(row, depth, above, change) {
    const { fields } = row;
    const author = fields.authorName ?? fields.author ?? "somebody";
    const before = change?.fields.content?.a;
    const text =
      change?.change === "changed" && typeof before === "string" && before !== fields.content
        ? element(
            "p",
            { class: "text", dir: "auto" },
            ...wordDifference(before, String(fields.content ?? "")).map(([kind, words]) =>
              kind === "same" ? shown(words) : element(kind === "gone" ? "del" : "ins", {}, shown(words)),
            ),
          )
        : element("p", { class: "text", dir: "auto" }, row.isGone ? element("del", {}, shown(fields.content ?? "")) : shown(fields.content ?? ""));
    const parent = above === undefined ? undefined : this.timeline.rows.get(above);
    const notes = [
      time(fields.createdAt),
      fields.editedAt ? `edited ${time(fields.editedAt)}` : undefined,
      row.isGone ? `deleted${fields.deletedBy ? " by " + shown(fields.deletedBy) : ""}` : undefined,
      fields.revisions > 1 ? `${fields.revisions} versions` : undefined,
      parent ? `answers ${shown(parent.fields.authorName ?? parent.fields.author ?? "somebody")}` : above ? "answers what is not here" : undefined,
    ].filter((note) => note);
    return element(
      "li",
      { class: [change ? "lit" : "", row.isGone ? "gone" : "", `depth-${depth}`].join(" ").trim(), "data-entity": row.entity },
      element(
        "button",
        { type: "button", class: "who", title: "Its history", onclick: () => this.chooseEntity(row.entity) },
        element("bdi", {}, shown(author)),
      ),
      " ",
      element("span", { class: "quiet" }, notes.join(" · ")),
      text,
    );
  }

  /** Items, sessions, rows and whatever else has a row: a table of their members. */
  drawRows() {
    const changes = new Set(this.timeline.position > 0 ? this.timeline.step().changes.map((change) => change.entity) : []);
    const rows = [...this.timeline.rows.values()].filter((row) => placeOf(row.entity) === this.place);
    rows.sort((left, right) => compare(left.entity, right.entity));
    const items = rows.slice(0, this.shownMax).map((row) =>
      element(
        "li",
        { class: [changes.has(row.entity) ? "lit" : "", row.isGone ? "gone" : ""].join(" ").trim(), "data-entity": row.entity },
        element(
          "button",
          { type: "button", class: "who", title: "Its history", onclick: () => this.chooseEntity(row.entity) },
          element("bdi", {}, shown(decoded(parts(row.entity).parts.at(-1)))),
        ),
        element("p", { class: "text", dir: "auto" }, shown(brief(row.fields))),
      ),
    );
    const rest = rows.length - items.length;
    if (rest > 0)
      items.push(
        element("li", {}, element("button", { type: "button", onclick: () => ((this.shownMax *= 4), this.drawContent()) }, `${rest} more`)),
      );
    return element("ol", { class: "rows" }, ...items);
  }

  // ---- Right: the event

  drawEvent() {
    const { timeline } = this;
    const [step, event] = [timeline.step(), timeline.event()];
    const aside = byID("event");
    if (!event) {
      const text = timeline.position === 0 ? `The state before event ${timeline.header.from}.` : `Event ${step.sequence} is not in this file.`;
      return aside.replaceChildren(element("h2", {}, "Event"), element("p", { class: "quiet" }, text));
    }
    const members = [
      ["recorded", time(event.recordedAt)],
      ["source", event.source],
      ["kind", event.kind],
      ["key", event.key],
      ...Object.entries(event.attributes ?? {}),
    ].filter(([, value]) => value !== undefined);
    const changes = step.changes.map((change) =>
      element(
        "li",
        {},
        element("span", { class: "word" }, change.change),
        " ",
        element("button", { type: "button", class: "link", onclick: () => this.chooseEntity(change.entity) }, element("bdi", {}, shown(change.entity))),
        element("ul", {}, ...Object.entries(change.fields).map(([name, values]) => this.drawField(name, values))),
      ),
    );
    const command = `logtool events LOG --from ${event.sequence} --to ${event.sequence} --payload`;
    aside.replaceChildren(
      element("h2", {}, `Event ${event.sequence}`),
      element("dl", {}, ...members.flatMap(([name, value]) => [element("dt", {}, shown(name)), element("dd", { dir: "auto" }, shown(value))])),
      element("h3", {}, step.changes.length > 0 ? "Changed" : "Changed nothing"),
      element("ul", { class: "changes" }, ...changes),
      element("h3", {}, event.redacted ? "Payload, redacted" : "Payload"),
      element("pre", { dir: "auto", tabindex: "0", "aria-label": "Payload" }, shown(pretty(event))),
      element("h3", {}, "Copy as command"),
      this.copyable(command),
      this.copyable(`logtool replay LOG --at ${event.sequence}`),
      this.copyable(`logtool prove LOG ${event.sequence}`),
    );
  }

  drawField(name, values) {
    const text = (value) => shown(typeof value === "string" ? value : JSON.stringify(value));
    return element(
      "li",
      {},
      element("span", { class: "quiet" }, shown(name) + ": "),
      values.a === undefined ? null : element("del", {}, text(values.a)),
      " ",
      values.b === undefined ? null : element("ins", {}, text(values.b)),
    );
  }

  copyable(text) {
    const code = element("code", {}, text);
    return element(
      "p",
      { class: "copy" },
      code,
      " ",
      element("button", { type: "button", "aria-label": `Copy: ${text}`, onclick: () => copy(code) }, "copy"),
    );
  }

  // ---- Below: one thing's history, and what was found

  chooseEntity(entity) {
    this.chosen = this.chosen === entity ? undefined : entity;
    this.drawHistory();
  }

  /** The versions of the chosen thing, as a strip: every step of this file that changed it. */
  drawHistory() {
    const section = byID("history");
    section.hidden = this.chosen === undefined;
    if (this.chosen === undefined) return;
    const items = [];
    this.timeline.steps.forEach((step, index) => {
      for (const change of step.changes)
        if (change.entity === this.chosen)
          items.push(
            element(
              "li",
              {},
              element(
                "button",
                {
                  type: "button",
                  "aria-current": index === this.timeline.position ? "true" : undefined,
                  onclick: () => this.show(index),
                },
                index === 0 ? "before" : `event ${step.sequence}`,
                " ",
                element("span", { class: "word" }, change.change),
              ),
              element("p", { class: "text", dir: "auto" }, shown(brief(Object.fromEntries(Object.entries(change.fields).map(([name, values]) => [name, values.b]))))),
            ),
          );
    });
    section.replaceChildren(
      element("h2", {}, "History of ", element("bdi", {}, shown(this.chosen))),
      element("button", { type: "button", onclick: () => this.chooseEntity(this.chosen) }, "close"),
      this.copyable(`logtool history LOG '${this.chosen.replaceAll("'", "'\\''")}'`),
      element("ol", { class: "strip" }, ...items),
    );
  }

  /** Every step whose changes or payload contain a text, in whatever case. */
  search(text) {
    const section = byID("found");
    const wanted = text.toLowerCase();
    section.hidden = wanted === "";
    if (wanted === "") return;
    const found = [];
    const { timeline } = this;
    for (let index = 0; index <= timeline.last && found.length < 200; index++) {
      const [step, event] = [timeline.step(index), timeline.event(index)];
      const texts = step.changes.flatMap((change) => [change.entity, ...Object.values(change.fields).flatMap((values) => [values.a, values.b])]);
      const hit = [...texts, event?.payload].find((value) => typeof value === "string" && value.toLowerCase().includes(wanted));
      if (hit !== undefined) found.push([index, hit]);
    }
    const items = found.map(([index, hit]) =>
      element(
        "li",
        {},
        element("button", { type: "button", onclick: () => this.show(index) }, index === 0 ? "before" : `event ${timeline.step(index).sequence}`),
        element("span", { dir: "auto" }, " " + shown(around(hit, wanted))),
      ),
    );
    section.replaceChildren(
      element("h2", {}, found.length === 200 ? "Found, the first 200" : `Found ${found.length}`),
      element("ol", {}, ...items),
    );
  }

  help() {
    const keys = [
      ["← →", "one step back, on"],
      ["Shift ← →", "the last, the next step that changes what is shown"],
      ["Home End", "the first, the last step"],
      ["Space", "play, stop"],
      ["+ −", "faster, slower"],
      ["n p", "the next, the last edit, deletion, gap, reconnection or issue"],
      ["/", "search"],
      ["c e", "to the chat, to the event"],
      ["Esc", "close what is open"],
      ["?", "these keys"],
    ];
    const dialog = byID("help");
    dialog.replaceChildren(
      element("h2", {}, "Keys"),
      element("dl", {}, ...keys.flatMap(([key, text]) => [element("dt", {}, key), element("dd", {}, text)])),
      element("button", { type: "button", onclick: () => dialog.close() }, "close"),
    );
    dialog.showModal();
  }

  close() {
    byID("help").close();
    byID("search").value = "";
    this.search("");
    this.chosen = undefined;
    this.drawHistory();
  }
}

/** The place of a thing: the channel of a message, the list of an item, the table of a row; undefined for what has none. */
function placeOf(entity) {
  const name = parts(entity);
  if (name.kind === "message" || name.kind === "channel") return `channel\n${name.parts[0]}\n${name.parts[1]}`;
  if (name.kind === "issue") return `issues\n${name.parts[0]}`;
  if (name.parts.length > 2) return `${name.kind}\n${name.parts[0]}\n${name.parts[1]}`;
  return name.parts.length === 2 ? `${name.kind}\n${name.parts[0]}` : undefined;
}

/** An id as a part of an entity's name. */
function encoded(id) {
  return String(id).replaceAll("%", "%25").replaceAll("/", "%2F");
}

/** The members of a row on one line. */
function brief(fields) {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
}

/** A payload with line breaks where it is JSON, or has JSON within. */
function pretty(event) {
  if (event.payload === undefined) return `${event.payloadBase64 ?? ""} (base64)`;
  try {
    return JSON.stringify(JSON.parse(event.payload), null, 2);
  } catch {
    return event.payload;
  }
}

/** A text around what was found in it. */
function around(text, wanted) {
  const place = text.toLowerCase().indexOf(wanted);
  return (place > 40 ? "…" : "") + text.slice(Math.max(0, place - 40), place + wanted.length + 80);
}

/** Copies the text of an element; where a page from a disk may not, selects it. */
function copy(code) {
  const select = () => getSelection().selectAllChildren(code);
  if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).catch(select);
  else select();
}

// ---- Begin

if (typeof document !== "undefined") {
  const blocks = ["steps", "export"].map((id) => values(byID(id).textContent));
  Promise.all(blocks).then(
    ([steps, exported]) => {
      window.page = new Page(new Timeline(steps, exported));
      window.page.follow();
      if (location.protocol === "http:") window.page.poll();
    },
    (error) => (byID("now").textContent = `The data of this page cannot be read: ${error.message}`),
  );
} else {
  module.exports = { values, inflated, Timeline, compare, wordDifference, markOf, placeOf, parts };
}
