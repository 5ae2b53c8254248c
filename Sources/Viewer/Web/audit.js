// The page of an audit: a list of the changes, of which only what is seen is drawn, and the chosen one in full.

class AuditPage {
  constructor(entries) {
    this.entries = entries;
    this.counts = entries.end.counts;
    this.classes = new Set(Object.keys(this.counts));
    this.drawn = new Map();
    this.list = byID("list");
    this.change = new ChangePanel(this);
    this.drawHead();
    this.listen();
    this.filter();
    this.readOn();
  }

  /** Reads the entries between pictures, for what needs all of them: the versions of a thing. */
  readOn() {
    if (this.entries.read(8)) this.change.drawVersions();
    else setTimeout(() => this.readOn());
  }

  drawHead() {
    const { header, end } = this.entries;
    byID("about").textContent = `Asked for: ${shown(header.asked)}. ${shown(end.said)}. Times are UTC.`;
    byID("log").replaceChildren(
      element("summary", {}, `Read out of a log of ${end.size} events`),
      element("p", {}, "The root hash: ", element("code", {}, end.root)),
      element("p", {}, "Whoever has the log can compare: ", element("code", {}, "logtool root LOG"), "; ", element("code", {}, "logtool prove LOG EVENT"), " proves one event."),
    );
    byID("missing").replaceChildren(...end.missing.map((text) => element("p", { class: "warning" }, `Not complete: ${shown(text)}.`)));
    const boxes = Object.entries(this.counts).map(([name, count]) => {
      const box = element("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        if (box.checked) this.classes.add(name);
        else this.classes.delete(name);
        this.filter();
      });
      return element("label", {}, box, " ", element("span", { class: `word ${name}` }, name), ` ${count}`);
    });
    byID("classes").replaceChildren(...boxes);
  }

  listen() {
    byID("search").addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.filter(), 150);
    });
    byID("help-open").addEventListener("click", () => this.help());
    this.list.addEventListener("scroll", () => this.later());
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest(".entry");
      if (row) this.choose(Number(row.dataset.place));
    });
    addEventListener("resize", () => this.measure());
    addEventListener("hashchange", () => this.follow());
    addEventListener("beforeprint", () => this.change.print());
    addEventListener("afterprint", () => this.change.printed());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Goes to the event that the address names, as `#17`; to the first entry without a name. */
  follow() {
    const named = /^#\d+$/.test(location.hash) ? this.entries.indexOf(BigInt(location.hash.slice(1))) : undefined;
    if (named !== undefined) this.show(named);
    else if (this.fitting.length > 0) this.choose(0);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return this.close();
    if (event.target.tagName === "INPUT" && event.target.type !== "checkbox") return;
    const page = Math.max(1, Math.floor(this.list.clientHeight / this.rowHeight) - 1);
    const keys = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      PageDown: () => this.move(page),
      PageUp: () => this.move(-page),
      Home: () => this.choose(0),
      End: () => this.choose(this.fitting.length - 1),
      d: () => this.seek(1, "delete"),
      D: () => this.seek(-1, "delete"),
      "]": () => this.version(1),
      "[": () => this.version(-1),
      "/": () => byID("search").focus(),
      c: () => this.list.focus(),
      e: () => byID("event").focus(),
      "?": () => this.help(),
    };
    const action = keys[event.key];
    // Arrows scroll the change where it is read.
    if (!action || (byID("event").contains(event.target) && !/^[a-zD/?[\]]$/.test(event.key))) return;
    event.preventDefault();
    action();
  }

  // ---- Which entries there are

  /** Shows the entries that fit the search and the kinds, and stays at the chosen one if it is among them. */
  filter() {
    const chosen = this.index;
    this.fitting = this.entries.fitting(byID("search").value, this.classes);
    const { count } = this.entries;
    this.say(this.fitting.length === count ? `${count} changes` : `${this.fitting.length} of ${count} changes`);
    this.place = chosen === undefined ? -1 : this.fitting.indexOf(chosen);
    this.clear();
    this.measure();
    if (this.place < 0) this.choose(0);
    else this.choose(this.place);
  }

  say(text) {
    byID("now").textContent = text;
  }

  /** The index of the chosen entry; undefined without one. */
  get index() {
    return this.fitting?.[this.place];
  }

  move(count) {
    this.choose(Math.max(0, Math.min(this.place + count, this.fitting.length - 1)));
  }

  /** Goes to the next entry of a class. */
  seek(direction, name) {
    for (let place = this.place + direction; place >= 0 && place < this.fitting.length; place += direction)
      if (this.entries.entry(this.fitting[place]).class === name) return this.choose(place);
    this.say("No deletion follows.");
  }

  /** Goes to another version of the chosen thing. */
  version(direction) {
    if (this.index === undefined) return;
    const versions = this.entries.versions(this.index);
    const other = versions[versions.indexOf(this.index) + direction];
    if (other === undefined) this.say(direction > 0 ? "This is its last change here." : "This is its first change here.");
    else this.show(other);
  }

  /** Chooses an entry; one that the search rules out ends the search. */
  show(index) {
    if (!this.fitting.includes(index)) {
      byID("search").value = "";
      this.classes = new Set(Object.keys(this.counts));
      for (const box of byID("classes").querySelectorAll("input")) box.checked = true;
      this.filter();
    }
    this.choose(this.fitting.indexOf(index));
  }

  /** Chooses the entry at a place of the list, and scrolls to it. */
  choose(place) {
    this.place = this.fitting.length === 0 ? -1 : Math.max(0, place);
    if (this.place >= 0) this.list.scrollTop = this.rows.scrollFor(this.place, this.list.scrollTop);
    this.draw();
    this.change.draw();
  }

  // ---- The list

  /** Learns how high a row is and how many fit. */
  measure() {
    const probe = element("div", { class: "entry" });
    byID("rows").append(probe);
    this.rowHeight = probe.getBoundingClientRect().height || 98;
    probe.remove();
    this.rows = new RowWindow(this.fitting.length, this.rowHeight, this.list.clientHeight);
    byID("space").style.height = `${this.rows.height}px`;
    this.draw();
  }

  clear() {
    this.drawn.clear();
    byID("rows").replaceChildren();
  }

  /** Draws with the next picture; scrolling tells more often. */
  later() {
    this.due ??= requestAnimationFrame(() => {
      this.due = undefined;
      this.draw();
    });
  }

  /** Draws the rows that are seen; those that were drawn before stay. */
  draw() {
    const { first, end, offset } = this.rows.at(this.list.scrollTop);
    const rows = byID("rows");
    rows.style.transform = `translateY(${offset}px)`;
    for (const [place, row] of this.drawn)
      if (place < first || place >= end) {
        row.remove();
        this.drawn.delete(place);
      }
    let behind = null;
    for (let place = end - 1; place >= first; place--) {
      let row = this.drawn.get(place);
      if (!row) {
        row = this.drawRow(place);
        this.drawn.set(place, row);
        rows.insertBefore(row, behind);
      }
      if ((row.ariaSelected === "true") !== (place === this.place)) row.setAttribute("aria-selected", String(place === this.place));
      behind = row;
    }
    if (this.drawn.has(this.place)) this.list.setAttribute("aria-activedescendant", `entry-${this.place}`);
    else this.list.removeAttribute("aria-activedescendant");
  }

  drawRow(place) {
    const entry = this.entries.entry(this.fitting[place]);
    const author = (entry.before ?? entry.after)?.authorName ?? (entry.before ?? entry.after)?.author;
    return element(
      "div",
      {
        class: "entry",
        id: `entry-${place}`,
        role: "option",
        "aria-selected": "false",
        "aria-setsize": this.fitting.length,
        "aria-posinset": place + 1,
        "data-place": place,
        "data-sequence": entry.sequence,
        "data-entity": entry.entity,
      },
      element("p", {}, element("span", { class: "number" }, `event ${entry.sequence}`), ...this.title(entry)),
      element("p", { class: "quiet" }, author === undefined ? null : element("bdi", {}, `of ${shown(author)}, `), element("bdi", {}, shown(entry.entity))),
      element("p", { class: "said", dir: "auto" }, ...said(entry)),
    );
  }

  /** What was done, when and by whom. */
  title(entry) {
    return [
      element("bdi", { class: `word ${entry.class}` }, shown(entry.change)),
      ` ${time(entry.remoteTime ?? entry.recordedAt)} `,
      entry.by === undefined ? element("span", { class: "quiet" }, "by whom the remote does not tell") : element("bdi", {}, `by ${shown(entry.by)}`),
    ];
  }

  help() {
    openKeys([
      ["↑ ↓", "the change before, behind"],
      ["Page up, down", "a screen up, down"],
      ["Home End", "the first, the last change"],
      ["d D", "the next, the last deletion"],
      ["[ ]", "the change of the same thing before, behind"],
      ["/", "search"],
      ["c e", "to the list, to the change"],
      ["Esc", "end the search, close what is open"],
      ["?", "these keys"],
    ]);
  }

  close() {
    byID("help").close();
    if (byID("search").value !== "") {
      byID("search").value = "";
      this.filter();
    }
    this.list.focus();
  }
}

lines(byID("audit").textContent)
  .then((lines) => {
    window.page = new AuditPage(new Entries(lines));
    window.page.follow();
  })
  .catch((error) => (byID("now").textContent = `The data of this page cannot be read: ${error.message}`));
