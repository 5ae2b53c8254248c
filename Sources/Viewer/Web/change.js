// One change of an audit in full: its members, what differs, the versions of its thing, and all of it for paper.

class ChangePanel {
  /** More entries than these are not printed; the printed page says so. */
  static printedMax = 5000;
  /** So many versions are drawn before the chosen one and behind it. */
  static versionsAround = 30;

  constructor(page) {
    this.page = page;
  }

  draw() {
    const aside = byID("event");
    if (this.page.index === undefined) return aside.replaceChildren(element("p", { class: "quiet" }, "No change fits."));
    const entry = this.page.entries.entry(this.page.index);
    aside.scrollTop = 0;
    this.versions = element("div", { id: "versions" }, element("h3", {}, "Versions, as far as this page has them: …"));
    aside.replaceChildren(
      ...this.whole(entry),
      this.versions,
      element("h3", {}, "Copy as command"),
      copyable(`logtool history LOG ${quoted(entry.entity)}`),
      copyable(`logtool events LOG --from ${entry.sequence} --to ${entry.sequence} --payload`),
      copyable(`logtool view LOG --to ${entry.sequence}`),
      element("h3", {}, "Proof"),
      entry.proof ? provable(entry.sequence, () => entry.proof) : element("p", { class: "quiet" }, "With --prove the page has the proof of each entry."),
      copyable(`logtool prove LOG ${entry.sequence}`),
    );
    this.drawVersions();
  }

  /** Draws the versions of the chosen thing, once all entries are read. */
  drawVersions() {
    if (this.page.index !== undefined && this.page.entries.read(0)) this.versions.replaceChildren(...this.strip());
  }

  /** All of an entry: its members, and what differs. */
  whole(entry) {
    const untold = element("span", { class: "quiet" }, "the remote does not tell");
    const members = [
      ["change", entry.change],
      ["thing", entry.entity],
      ["by", entry.by ?? untold],
      ["remote time", entry.remoteTime === undefined ? untold.cloneNode(true) : time(entry.remoteTime)],
      ["recorded", time(entry.recordedAt)],
      ...(entry.notes ?? []).map((note) => ["note", note]),
    ];
    const text = (value) => (typeof value === "string" ? shown(value) : value);
    return [
      element("h2", {}, `Event ${entry.sequence}`),
      element("dl", {}, ...members.flatMap(([name, value]) => [element("dt", {}, name), element("dd", { dir: "auto" }, text(value))])),
      element(
        "ul",
        { class: "fields" },
        ...differencesOf(entry).map((field) =>
          element("li", {}, element("span", { class: "quiet" }, shown(field[0])), element("div", { class: "text", dir: "auto" }, ...drawnPieces(piecesOf(field)))),
        ),
      ),
    ];
  }

  /** The versions of the chosen thing that the page has. */
  strip() {
    const versions = this.page.entries.versions(this.page.index);
    const place = versions.indexOf(this.page.index);
    const start = Math.max(0, place - ChangePanel.versionsAround);
    const drawn = versions.slice(start, place + ChangePanel.versionsAround + 1);
    const first = this.page.entries.entry(drawn[0]).before;
    const card = (head, fields) => element("li", {}, head, element("p", { class: "text", dir: "auto" }, fields ? shown(plain(fields.content ?? fields.text ?? brief(fields))) : "gone"));
    const cards = drawn.map((index) => {
      const entry = this.page.entries.entry(index);
      const head = element(
        "button",
        { type: "button", "aria-current": index === this.page.index ? "true" : undefined, onclick: () => this.page.show(index) },
        `event ${entry.sequence} `,
        element("bdi", { class: `word ${entry.class}` }, shown(entry.change)),
      );
      return card(head, entry.after);
    });
    const before = first ? [card(element("span", { class: "quiet" }, "before"), first)] : [];
    const rest = drawn.length < versions.length ? `, ${start + 1} to ${start + drawn.length} of them shown` : "";
    return [element("h3", {}, `Versions, as far as this page has them: ${versions.length}${rest}`), element("ol", { class: "strip" }, ...before, ...cards)];
  }

  /** Draws the entries that fit as a whole, as paper does not scroll. */
  print() {
    const { length } = this.page.fitting;
    const shownMax = Math.min(length, ChangePanel.printedMax);
    const rest = length > shownMax ? `The first ${shownMax} of ${length} changes; search for fewer to print others.` : `${length} changes.`;
    const articles = this.page.fitting.slice(0, shownMax).map((index) => element("article", {}, ...this.whole(this.page.entries.entry(index))));
    byID("print").replaceChildren(element("p", {}, rest), ...articles);
    this.wasOpen ??= byID("log").open;
    byID("log").open = true;
  }

  /** Puts the page back as it was before. */
  printed() {
    byID("print").replaceChildren();
    byID("log").open = this.wasOpen ?? false;
    this.wasOpen = undefined;
  }
}

/** What an entry says, for a row: the text if it changed, else all members. */
function said(entry) {
  const fields = differencesOf(entry);
  const isText = ([name]) => name === "content" || name === "text";
  const chosen = fields.length > 0 && isText(fields[0]) ? fields.slice(0, 1) : fields.slice(0, 8);
  return chosen.flatMap((field) => [isText(field) ? null : element("span", { class: "quiet" }, shown(field[0]) + " "), ...drawnPieces(shortened(piecesOf(field))), " "]);
}
