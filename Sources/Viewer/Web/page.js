// The page: draws what data.js gives. Everything that comes from the log becomes text; nothing of it becomes markup.

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
  /** The other timeline, if there is one, is of another reading of the same events. */
  constructor(timeline, other) {
    this.timeline = timeline;
    this.other = other;
    this.partings = other ? partings(timeline, other) : [];
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
    if (this.other) {
      const first = this.partings.length > 0 ? `differs first at event ${this.timeline.step(this.partings[0]).sequence}` : "says the same";
      byID("about").textContent += `; beside it as ${this.other.header.profile}, which ${first}`;
    }
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
    byID("density").addEventListener("click", (event) =>
      this.show(Math.round((event.offsetX / event.target.clientWidth) * this.timeline.last)),
    );
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
      d: () => this.part(1),
      D: () => this.part(-1),
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

  /** Goes to the next step at which the two readings begin to differ in something. */
  part(direction) {
    const steps = new Set(this.partings);
    this.seek(direction, (_, index) => steps.has(index));
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
    this.other?.go(index);
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
    if (!answer) return (byID("now").textContent = "No longer followed: logtool view has ended.");
    if (answer.ok) {
      const lines = (await answer.text()).split("\n").filter((line) => line !== "");
      if (lines.length > 0) {
        const isAtEnd = timeline.position === timeline.last;
        timeline.add(lines.map((line) => JSON.parse(line)));
        byID("slider").max = String(timeline.last);
        this.drawAxis();
        if (isAtEnd) this.show(timeline.last);
      }
    } else return (byID("now").textContent = `No longer followed: ${await answer.text()}`);
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
    const readings = (this.other ? [this.timeline, this.other] : [this.timeline]).map((timeline) => {
      const rows = kind === "channel" ? this.drawMessages(timeline, `${source}/${id}`) : this.drawRows(timeline);
      return this.other ? element("section", {}, element("h3", {}, `As ${timeline.header.profile}`), rows) : rows;
    });
    content.replaceChildren(heading, ...(pinned ? [pinned] : []), element("div", { class: this.other ? "readings" : undefined }, ...readings));
    const lit = content.querySelector(".lit");
    if (!lit) return;
    // Only within the chat: the page itself stays where the reader put it.
    const [box, row] = [content.getBoundingClientRect(), lit.getBoundingClientRect()];
    if (row.top < box.top || row.bottom > box.bottom) content.scrollTop += row.top - box.top - (box.height - row.height) / 2;
  }

  /** The classes of a row: lit where the step changed it, gone, and differing from the other reading. */
  classes(row, isLit, ...others) {
    const differs = this.other && sayings(this.timeline.rows.get(row.entity)) !== sayings(this.other.rows.get(row.entity));
    return [isLit ? "lit" : "", row.isGone ? "gone" : "", differs ? "differs" : "", ...others].join(" ").trim();
  }

  drawMessages(timeline, channel) {
    const messages = timeline.messages(channel);
    const changes = new Map(timeline.position > 0 ? timeline.step().changes.map((change) => [change.entity, change]) : []);
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
      return this.drawMessage(row, depth, above && [above, timeline.rows.get(above)], changes.get(row.entity));
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
    const parent = above?.[1];
    const notes = [
      time(fields.createdAt),
      fields.editedAt ? `edited ${time(fields.editedAt)}` : undefined,
      row.isGone ? `deleted${fields.deletedBy ? " by " + shown(fields.deletedBy) : ""}` : undefined,
      fields.revisions > 1 ? `${fields.revisions} versions` : undefined,
      above && !parent ? "answers what is not here" : undefined,
    ].filter((note) => note);
    const answered =
      parent &&
      element(
        "button",
        { type: "button", class: "link", onclick: () => this.chooseEntity(above[0]) },
        `answers ${shown(parent.fields.authorName ?? parent.fields.author ?? "somebody")}`,
      );
    return element(
      "li",
      { class: this.classes(row, change !== undefined, `depth-${depth}`), "data-entity": row.entity },
      element(
        "button",
        { type: "button", class: "who", title: "Its history", onclick: () => this.chooseEntity(row.entity) },
        element("bdi", {}, shown(author)),
      ),
      " ",
      element("span", { class: "quiet" }, notes.join(" · ")),
      answered ? " " : null,
      answered,
      text,
    );
  }

  /** Items, sessions, rows and whatever else has a row: a table of their members. */
  drawRows(timeline) {
    const changes = new Set(timeline.position > 0 ? timeline.step().changes.map((change) => change.entity) : []);
    const rows = [...timeline.rows.values()].filter((row) => placeOf(row.entity) === this.place);
    rows.sort((left, right) => compare(left.entity, right.entity));
    const items = rows.slice(0, this.shownMax).map((row) =>
      element(
        "li",
        { class: this.classes(row, changes.has(row.entity)), "data-entity": row.entity },
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
    const command = `logtool events LOG --from ${event.sequence} --to ${event.sequence} --payload`;
    aside.replaceChildren(
      element("h2", {}, `Event ${event.sequence}`),
      element("dl", {}, ...members.flatMap(([name, value]) => [element("dt", {}, shown(name)), element("dd", { dir: "auto" }, shown(value))])),
      ...this.drawChanges(timeline, step),
      ...(this.other ? this.drawChanges(this.other, this.other.step()) : []),
      element("h3", {}, event.redacted ? "Payload, redacted" : "Payload"),
      element("pre", { dir: "auto", tabindex: "0", "aria-label": "Payload" }, shown(pretty(event))),
      element("h3", {}, "Copy as command"),
      this.copyable(command),
      this.copyable(this.replayCommand(event.sequence)),
      this.copyable(`logtool prove LOG ${event.sequence}`),
    );
  }

  /** What a step changed, with a heading that names the reading where there are two. */
  drawChanges(timeline, step) {
    const reading = this.other ? `, as ${timeline.header.profile}` : "";
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
    return [
      element("h3", {}, (step.changes.length > 0 ? "Changed" : "Changed nothing") + reading),
      element("ul", { class: "changes" }, ...changes),
    ];
  }

  /** The command that prints what is shown. */
  replayCommand(sequence) {
    const [kind, source, id] = (this.place ?? "").split("\n");
    const channel = kind === "channel" ? ` --channel ${quoted(`${source}/${id}`)}` : "";
    return `logtool replay LOG --at ${sequence}${channel}`;
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
    // A thing that the first reading never had is one of the other reading.
    const isKnown = ({ changes }) => changes.some((change) => change.entity === this.chosen);
    const timeline = this.other && !this.timeline.steps.some(isKnown) ? this.other : this.timeline;
    timeline.steps.forEach((step, index) => {
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
      this.copyable(`logtool history LOG ${quoted(this.chosen)}`),
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
      ["d D", "the next, the last event at which two readings begin to differ"],
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

/** An id as a part of an entity's name. */
function encoded(id) {
  return String(id).replaceAll("%", "%25").replaceAll("/", "%2F");
}

/** A word as a shell takes it. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
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

const blocks = ["steps", "export", "other"].map((id) => values(byID(id)?.textContent ?? ""));
Promise.all(blocks).then(
  ([steps, exported, other]) => {
    window.page = new Page(new Timeline(steps, exported), other.length > 0 ? new Timeline(other, exported) : undefined);
    window.page.follow();
    if (location.protocol === "http:") window.page.poll();
  },
  (error) => (byID("now").textContent = `The data of this page cannot be read: ${error.message}`),
);
