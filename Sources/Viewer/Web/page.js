// The page of a log: moves through its steps and has the panels draw them.

class Page {
  /** How long a reader stays at a step until what is around it is loaded, in milliseconds. */
  static settlingTime = 200;

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
    this.chat = new ChatPanel(this);
    this.event = new EventPanel(this);
    this.finds = new FindsPanel(this);
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
    if (this.left !== undefined) byID("about").textContent += `; beside it as if event ${this.left} had never arrived`;
    else if (this.other) {
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
      this.typing = setTimeout(() => this.finds.search(event.target.value), 200);
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
      w: () => this.leaveOut(),
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

  /** Goes to the next step at which the two readings begin to differ in something; behind the last one, to the first. */
  part(direction) {
    const { partings, timeline } = this;
    if (partings.length === 0) return this.say(this.other ? "Both say the same." : "Nothing is beside this log.");
    const found =
      direction > 0 ? partings.find((index) => index > timeline.position) : partings.filter((index) => index < timeline.position).at(-1);
    return this.show(found ?? partings.at(direction > 0 ? 0 : -1));
  }

  /** Shows beside the log what it would be without the event of the shown step, or no longer. Only a server can tell. */
  leaveOut() {
    const { timeline } = this;
    if (!timeline.without) return this.say("A file cannot tell; the command beside the event does.");
    const sequence = timeline.event()?.sequence;
    this.left = this.left === undefined ? sequence : undefined;
    this.other = this.left === undefined ? undefined : timeline.without(this.left);
    // What differs begins with the event that is left out.
    this.partings = this.left === undefined ? [] : [timeline.position];
    this.drawHead();
    return this.show(timeline.position);
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
    for (const reading of [timeline, this.other]) reading?.lookAhead(this.place);
    clearTimeout(this.settling);
    if (timeline.isAlone) this.settling = setTimeout(() => this.settle(), Page.settlingTime);
  }

  /** Loads what a jump left out, the other places and the steps around it, once the reader stays there. */
  async settle() {
    clearTimeout(this.settling);
    const { timeline, wish } = this;
    try {
      await timeline.whole?.(this.place);
    } catch (error) {
      if (wish === this.wish) this.say(`The steps around step ${timeline.position} cannot be shown: ${error.message}`);
      return;
    }
    if (wish === this.wish) this.draw();
  }

  /** The place that a step changes; undefined where it changes none that has a list. */
  touched(index) {
    const step = index > 0 ? this.timeline.step(index) : undefined;
    return step?.changes.map((change) => placeOf(change.entity)).find((place) => place !== undefined);
  }

  /** A promise of what a step needs and is not here; undefined where nothing is. */
  missing(index) {
    const place = (this.isPinned ? undefined : this.touched(index)) ?? this.place;
    const rows = this.shownMax > 200 ? this.shownMax : 0;
    // Beside another reading, or of a place that stays, the step alone is not all that is shown.
    const isAloneEnough = !this.other && !this.isPinned;
    return this.timeline.ready(index, place, rows, isAloneEnough) ?? this.other?.ready(index, place, rows);
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
    this.chat.draw();
    this.event.draw();
    this.finds.draw();
    this.axis.paint();
  }

  /** Asks the server each second whether the log has grown. At the end the page stays at the end. */
  async poll() {
    const { timeline } = this;
    const isAtEnd = timeline.position === timeline.last;
    try {
      if (await timeline.grown()) {
        if (this.other) this.other.header.to = timeline.header.to;
        this.drawHead();
        if (isAtEnd) await this.show(timeline.last);
      }
    } catch (error) {
      return this.say(`No longer followed: ${error.message}`);
    }
    setTimeout(() => this.poll(), 1000);
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

  showMore() {
    this.shownMax *= 4;
    return this.show(this.timeline.position);
  }

  /** The command that prints what is shown. */
  replayCommand(sequence) {
    const [kind, source, id] = (this.place ?? "").split("\n");
    const channel = kind === "channel" ? ` --channel ${quoted(`${source}/${id}`)}` : "";
    return `logtool replay LOG --at ${sequence}${channel}`;
  }

  chooseEntity(entity) {
    this.chosen = this.chosen === entity ? undefined : entity;
    this.finds.draw();
  }

  help() {
    openKeys([
      ["← →", "one step back, on"],
      ["Shift ← →", "the last, the next step that changes what is shown"],
      ["Home End", "the first, the last step"],
      ["Space", "play, stop"],
      ["+ −", "faster, slower"],
      ["n p", "the next, the last edit, deletion, gap, reconnection or issue"],
      ["d D", "the next, the last event at which two readings begin to differ"],
      ["w", "as if this event had never arrived, and back; of a log that is served"],
      ["z Z 0", "zoom in, out, to all events"],
      ["g b B", "good here, bad here, find the first bad event between"],
      ["/", "search"],
      ["c e", "to the chat, to the event"],
      ["Esc", "close what is open"],
      ["?", "these keys"],
    ]);
  }

  close() {
    byID("help").close();
    byID("search").value = "";
    this.finds.search("");
    this.chosen = undefined;
    this.finds.draw();
  }
}

// ---- Begin

const blockText = (id) => byID(id)?.textContent ?? "";
Promise.all(["steps", "export", "other", "index"].map((id) => values(blockText(id))))
  .then(async ([steps, exported, other, [index]]) => {
    const isServed = steps[0]?.chunk !== undefined;
    const begun = () => (index ? new Filed(index, blockText("log").split("\n").filter((line) => line !== "")) : new Timeline(steps, exported));
    const timeline = isServed ? new Served(steps[0]) : begun();
    const page = (window.page = new Page(timeline, other.length > 0 ? new Timeline(other, exported) : undefined));
    await page.follow();
    if (isServed && steps[0].follows) page.poll();
  })
  .catch((error) => (byID("now").textContent = `The data of this page cannot be read: ${error.message}`));
