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
    this.wish = 0;
    this.axis = new Axis(this);
    this.work = new Work(this);
    this.drawHead();
    this.listen();
  }

  /** Says something where the shown step is named. */
  say(text) {
    byID("now").textContent = text;
  }

  drawHead() {
    const { header, last } = this.timeline;
    byID("about").textContent =
      `${last} steps, events ${header.from} to ${header.to} of ${header.size}, read as ${header.profile}; root ${header.root}`;
    if (this.other) {
      const first = this.partings.length > 0 ? `differs first at event ${this.timeline.step(this.partings[0]).sequence}` : "says the same";
      byID("about").textContent += `; beside it as ${this.other.header.profile}, which ${first}`;
    }
    this.axis.grow();
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
    byID("search").addEventListener("input", (event) => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.search(event.target.value), 200);
    });
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => this.follow());
  }

  /** Goes to the event that the address names, as `#17`; to the last one without a name. */
  follow() {
    if (/^#\d+$/.test(location.hash)) return this.goTo(location.hash.slice(1));
    return this.show(this.timeline.last);
  }

  goTo(text) {
    if (/^\d+$/.test(text.trim())) return this.show(this.timeline.indexOf(BigInt(text.trim())));
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
      g: () => this.work.mark("good"),
      b: () => this.work.mark("bad"),
      B: () => this.work.bisect(),
      z: () => this.axis.closer(),
      Z: () => this.axis.wider(),
      0: () => this.axis.all(),
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
    return this.show(this.timeline.position + count);
  }

  /** Goes to the next step that changed something in the place that is shown. */
  moveWithin(direction) {
    return this.next(direction, this.place, "Nothing more happens here.");
  }

  /** Goes to the next edit, deletion, gap, reconnection or issue. */
  mark(direction) {
    return this.next(direction, undefined, direction > 0 ? "No mark follows." : "No mark is before.");
  }

  async next(direction, place, otherwise) {
    try {
      const index = await this.timeline.next(direction, place);
      if (index === undefined) this.say(otherwise);
      else await this.show(index);
    } catch (error) {
      this.say(error.message);
    }
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
    const pause = factor < 0 ? -factor : Number.isNaN(next - now) ? 200 : Math.min(10000, Math.max(0, (next - now) / factor));
    // From the last step on, so that drawing is part of the pause.
    const due = Math.max(0, (this.moved ?? 0) + pause - performance.now());
    this.timer = setTimeout(async () => {
      this.moved = performance.now();
      await this.move(1);
      if (this.timer !== undefined) this.wait();
    }, due);
  }

  faster(direction) {
    const speed = byID("speed");
    speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + direction));
  }

  /** Shows a step, once what it needs is loaded. Of several wishes the last one counts. */
  async show(index) {
    const { timeline } = this;
    const target = Math.max(0, Math.min(index, timeline.last));
    const wish = ++this.wish;
    const content = byID("content");
    try {
      for (let wait = this.missing(target); wait; wait = this.missing(target)) {
        content.setAttribute("aria-busy", "true");
        await wait;
        if (wish !== this.wish) return;
      }
    } catch (error) {
      if (wish === this.wish) this.say(`Step ${target} cannot be shown: ${error.message}`);
      return;
    } finally {
      if (wish === this.wish) content.removeAttribute("aria-busy");
    }
    timeline.go(target);
    this.other?.go(target);
    this.draw();
    timeline.lookAhead(this.place);
  }

  /** The place that a step changes; undefined where it changes none that has a list. */
  touched(index) {
    const step = index > 0 ? this.timeline.step(index) : undefined;
    return step?.changes.map((change) => placeOf(change.entity)).find((place) => place !== undefined);
  }

  /** A promise of what a step needs and is not here; undefined where nothing is. */
  missing(index) {
    const place = (this.isPinned ? undefined : this.touched(index)) ?? this.place;
    return this.timeline.ready(index, place, this.shownMax > 200 ? this.shownMax : 0);
  }

  draw() {
    const { timeline } = this;
    const [step, event] = [timeline.step(), timeline.event()];
    byID("slider").value = String(timeline.position);
    byID("sequence").value = step.sequence;
    this.say(
      event
        ? `Event ${step.sequence}, recorded ${time(event.recordedAt)}, ${event.source}`
        : `Before event ${timeline.header.from}`,
    );
    const touched = this.touched(timeline.position);
    if (touched !== undefined && !this.isPinned && touched !== this.place) [this.place, this.shownMax] = [touched, 200];
    if (this.place === undefined) this.place = timeline.places().find((place) => timeline.knows(place.key))?.key;
    this.drawPlaces();
    this.drawContent();
    this.drawEvent();
    this.drawHistory();
    this.axis.paint();
  }

  /** Asks the server each second whether the log has grown. At the end the page stays at the end. */
  async poll() {
    const { timeline } = this;
    const isAtEnd = timeline.position === timeline.last;
    try {
      if (await timeline.grown()) {
        this.drawHead();
        if (isAtEnd) await this.show(timeline.last);
      }
    } catch (error) {
      return this.say(`No longer followed: ${error.message}`);
    }
    setTimeout(() => this.poll(), 1000);
  }

  // ---- Left: where things are

  drawPlaces() {
    const lit = new Set(this.timeline.step().changes.map((change) => placeOf(change.entity)));
    const items = this.timeline.places().map((place) =>
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
    this.axis.draw();
    return this.show(this.timeline.position);
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
    const items = messages.slice(start, end).flatMap((row) => {
      const parent = row.fields.replyTo?.id ?? row.fields.replyTo;
      const name = parts(row.entity).parts;
      const above = parent === undefined ? undefined : `message:${name[0]}/${name[1]}/${encoded(parent)}`;
      const depth = above === undefined ? 0 : Math.min(8, (depths.get(above) ?? 0) + 1);
      depths.set(row.entity, depth);
      return [
        ...this.unloaded(timeline.hiddenBefore(row.entity)),
        this.drawMessage(row, depth, above && [above, timeline.rows.get(above)], changes.get(row.entity)),
      ];
    });
    const more = (count, where) =>
      count > 0
        ? element(
            "li",
            {},
            element(
              "button",
              { type: "button", onclick: () => this.showMore() },
              `${count} ${where}: show more`,
            ),
          )
        : null;
    const behind = end === messages.length ? this.unloaded(timeline.hiddenBehind(this.place)) : [];
    return element("ol", { class: "messages" }, more(start, "earlier"), ...items, more(messages.length - end, "later"), ...behind);
  }

  /** Says how many messages are not here, and gets more. */
  unloaded(count) {
    if (count === 0) return [];
    return [element("li", { class: "unloaded", "data-hidden": String(count) }, element("button", { type: "button", onclick: () => this.showMore() }, `${count} not loaded: show more`))];
  }

  showMore() {
    this.shownMax *= 4;
    return this.show(this.timeline.position);
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
      above && !parent ? "answers what is not shown" : undefined,
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
    const rest = rows.length - items.length + timeline.hiddenBehind(this.place);
    if (rest > 0) items.push(element("li", {}, element("button", { type: "button", onclick: () => this.showMore() }, `${rest} more`)));
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
      element("pre", { id: "payload", dir: "auto", tabindex: "0", "aria-label": "Payload" }, shown(pretty(event))),
      element("div", { id: "reads" }),
      element("h3", {}, "Copy as command"),
      this.copyable(command),
      this.copyable(this.replayCommand(event.sequence)),
      element("h3", {}, "Proof"),
      this.drawProof(event.sequence),
      this.copyable(`logtool prove LOG ${event.sequence}`),
    );
    this.drawReads(event);
  }

  /** Lights what the decoder file read of the event, once it is known; a page that is a file names the command. */
  async drawReads(event) {
    const { timeline } = this;
    const isShown = () => timeline.event()?.sequence === event.sequence;
    if (!timeline.ask || !isJSON(event.payload)) return;
    // Not of steps that are passed quickly.
    await new Promise((done) => setTimeout(done, 150));
    if (!isShown()) return;
    const told = await timeline.reads(event.sequence).catch((error) => ({ error: error.message }));
    if (!isShown()) return;
    const place = byID("reads");
    if (told.error) return place.replaceChildren(element("p", {}, `What was read is not known: ${told.error}`));
    if (!told.decoder) return place.replaceChildren(element("p", { class: "quiet" }, "Read by a decoder that is built in, which does not tell what it reads."));
    const ranges = told.reads.filter((read) => read.start !== undefined && read.start !== null).map((read) => [read.start, read.end]);
    byID("payload").replaceChildren(...drawnPayload(event.payload, ranges));
    const rows = told.reads.map((read) => element("li", {}, shown(`${read.effect}: ${read.member} from ${read.from}`)));
    place.replaceChildren(
      element("p", { class: "quiet" }, shown(told.line ? `Read by ${told.decoder}, rule on line ${told.line}:` : `${told.decoder} has no rule for it.`)),
      element("ul", { class: "changes" }, ...rows),
      this.copyable(`logtool decoder explain LOG ${event.sequence}`),
    );
  }

  /** A button that gets the proof of an event and checks it here; of a page that is a file, what makes it. */
  drawProof(sequence) {
    const place = element("div", { "aria-live": "polite" });
    if (!this.timeline.ask) return element("p", { class: "quiet" }, "This file has no tree of the log: a log made of it, or this command, has the proof.");
    const check = async () => {
      try {
        const proof = await this.timeline.proof(sequence);
        const fault = await faultOf(proof);
        const holds = fault === undefined ? `Checked here: event ${sequence} is in the log of ${proof.treeSize} events with the root ${hex(proof.root)}.` : `It does not hold: ${fault}.`;
        place.replaceChildren(
          element("p", {}, holds),
          element("ol", { class: "path" }, ...[proof.leafHash, ...proof.proof].map((hash) => element("li", {}, element("code", {}, hex(hash))))),
        );
      } catch (error) {
        place.replaceChildren(element("p", {}, `There is no proof: ${error.message}`));
      }
    };
    return element("div", {}, element("button", { type: "button", onclick: check }, "Check the proof"), place);
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

  /** The versions of the chosen thing, as a strip. */
  async drawHistory() {
    const section = byID("history");
    const { chosen } = this;
    section.hidden = chosen === undefined;
    if (chosen === undefined) return;
    if (this.told?.entity !== chosen || this.told.last !== this.timeline.last)
      try {
        this.told = { entity: chosen, last: this.timeline.last, ...(await this.historyOf(chosen)) };
      } catch (error) {
        this.told = { entity: chosen, last: this.timeline.last, entries: [], count: 0, error: error.message };
      }
    if (this.chosen !== chosen) return;
    const items = this.told.entries.map((entry) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            "aria-current": entry.index === this.timeline.position ? "true" : undefined,
            onclick: () => this.show(entry.index),
          },
          entry.sequence === undefined ? "before" : `event ${entry.sequence}`,
          " ",
          element("span", { class: "word" }, shown(entry.change)),
        ),
        element("p", { class: "text", dir: "auto" }, shown(brief(entry.fields))),
      ),
    );
    const rest = this.told.count - items.length;
    section.replaceChildren(
      element("h2", {}, "History of ", element("bdi", {}, shown(chosen))),
      element("button", { type: "button", onclick: () => this.chooseEntity(chosen) }, "close"),
      this.copyable(`logtool history LOG ${quoted(chosen)}`),
      ...(this.told.error === undefined ? [] : [element("p", {}, shown(this.told.error))]),
      ...(rest > 0 ? [element("p", { class: "quiet" }, `${rest} earlier versions are not shown; the command has all.`)] : []),
      element("ol", { class: "strip" }, ...items),
    );
  }

  async historyOf(entity) {
    // A thing that the first reading never had is one of the other reading.
    const own = await this.timeline.history(entity);
    return own.entries.length > 0 || !this.other ? own : this.other.history(entity);
  }

  /** What contains a text, in whatever case. */
  async search(text) {
    const section = byID("found");
    const wish = (this.searched = {});
    section.hidden = text === "";
    if (text === "") return;
    const found = [];
    const more = async (from) => {
      try {
        const answer = await this.timeline.search(text, from);
        if (wish !== this.searched) return;
        found.push(...answer.found);
        this.drawFound(found, answer.next === undefined ? undefined : () => more(answer.next), answer.next);
      } catch (error) {
        section.replaceChildren(element("p", {}, `The search failed: ${error.message}`));
      }
    };
    return more();
  }

  drawFound(found, more, next) {
    const items = found.map((row) =>
      element(
        "li",
        {},
        element("button", { type: "button", onclick: () => this.show(row.index) }, row.name),
        element("span", { dir: "auto" }, " " + shown(row.text)),
      ),
    );
    byID("found").replaceChildren(
      element("h2", {}, more ? `Found ${found.length} before event ${this.timeline.sequence(next)}` : `Found ${found.length}`),
      element("ol", {}, ...items),
      ...(more ? [element("button", { type: "button", onclick: more }, "Search on")] : []),
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
      ["z Z 0", "zoom in, out, to all events"],
      ["g b B", "good here, bad here, find the first bad event between"],
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

function isJSON(text) {
  try {
    // What is longer is shown as it is.
    return text !== undefined && text.length < 200000 && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
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

/** Bytes that JSON has in base64. */
function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function hex(base64) {
  return Array.from(bytesOf(base64), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Why a proof does not hold (RFC 9162, 2.1.3.2); undefined where it does. */
async function faultOf(proof) {
  const hash = async (...pieces) => new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(pieces.flatMap((piece) => [...piece]))));
  const same = (left, right) => left.length === right.length && left.every((byte, index) => byte === right[index]);
  let node = bytesOf(proof.leafHash);
  if (proof.leaf !== undefined && !same(await hash([0], bytesOf(proof.leaf)), node)) return "the leaf hash is not that of the leaf";
  let [index, last] = [BigInt(proof.leafIndex), BigInt(proof.treeSize) - 1n];
  for (const text of proof.proof) {
    const other = bytesOf(text);
    if (last === 0n) return "its path is too long";
    if (index & 1n || index === last) {
      node = await hash([1], other, node);
      while (!(index & 1n) && index !== 0n) [index, last] = [index >> 1n, last >> 1n];
    } else node = await hash([1], node, other);
    [index, last] = [index >> 1n, last >> 1n];
  }
  return last === 0n && same(node, bytesOf(proof.root)) ? undefined : "its path does not lead to the root";
}

/** Copies the text of an element; where a page from a disk may not, selects it. */
function copy(code) {
  const select = () => getSelection().selectAllChildren(code);
  if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).catch(select);
  else select();
}

// ---- Begin

const blocks = ["steps", "export", "other"].map((id) => values(byID(id)?.textContent ?? ""));
Promise.all(blocks)
  .then(async ([steps, exported, other]) => {
    const isServed = steps[0].chunk !== undefined;
    const timeline = isServed ? new Served(steps[0]) : new Timeline(steps, exported);
    const page = (window.page = new Page(timeline, other.length > 0 ? new Timeline(other, exported) : undefined));
    await page.follow();
    if (isServed && steps[0].follows) page.poll();
  })
  .catch((error) => (byID("now").textContent = `The data of this page cannot be read: ${error.message}`));
