// The places of a log, and what people saw in one of them.

class ChatPanel {
  /** More rows than these are not kept as elements. */
  static keptMax = 400;

  constructor(page) {
    this.page = page;
    // What was drawn, by what it shows: a step changes little of it. The places apart, of which all are shown at once.
    this.kept = new Map();
    this.keptPlaces = new Map();
  }

  /** The element for a name: that which was drawn of the same values, else a new one. */
  keep(name, values, draw, kept = this.kept) {
    const known = kept.get(name);
    if (known && known.values.length === values.length && known.values.every((value, index) => value === values[index])) return known.drawn;
    if (kept === this.kept && kept.size >= ChatPanel.keptMax) kept.clear();
    const drawn = draw();
    kept.set(name, { values, drawn });
    return drawn;
  }

  draw() {
    this.drawPlaces();
    this.drawContent();
  }

  drawPlaces() {
    const lit = new Set(this.page.timeline.step().changes.map((change) => placeOf(change.entity)));
    const places = this.page.timeline.places();
    // Of places that are gone nothing is kept.
    if (this.keptPlaces.size > 2 * places.length) this.keptPlaces.clear();
    const items = places.map((place) => {
      const isLit = lit.has(place.key) && this.page.timeline.position > 0;
      const title = this.page.title(place.key);
      const isShown = place.key === this.page.place;
      const draw = () =>
        element(
          "li",
          {},
          element(
            "button",
            {
              type: "button",
              "aria-current": isShown ? "true" : undefined,
              class: isLit ? "lit" : undefined,
              onclick: () => this.page.choose(place.key),
            },
            element("bdi", {}, shown(title)),
            " ",
            element("span", { class: "quiet" }, String(place.count)),
          ),
        );
      return this.keep(place.key, [title, place.count, isLit, isShown], draw, this.keptPlaces);
    });
    const list = this.keep("places", [], () => element("ul", {}));
    fill(list, items);
    fill(byID("places"), [list]);
  }

  /** Draws the shown place, as each reading has it. */
  drawContent() {
    const content = byID("content");
    if (this.page.place === undefined) return content.replaceChildren(element("p", { class: "quiet" }, "Nothing yet."));
    const [kind, source, id] = this.page.place.split("\n");
    const { other, timeline } = this.page;
    const title = this.page.title(this.page.place);
    const heading = this.keep("heading", [title], () => element("h2", { dir: "auto" }, shown(title)));
    const pinned = this.page.isPinned ? [this.keep("pinned", [], () => element("p", { class: "quiet" }, "Stays here; choose it again to follow the steps."))] : [];
    const readings = (other ? [timeline, other] : [timeline]).map((reading, number) => {
      const name = kind === "channel" ? "messages" : "rows";
      const list = this.keep(`list ${number}`, [name], () => element("ol", { class: name }));
      fill(list, kind === "channel" ? this.drawMessages(reading, number, `${source}/${id}`) : this.drawRows(reading, number));
      return other
        ? this.keep(`reading ${number}`, [list], () => element("section", {}, element("h3", {}, `As ${reading.header.profile}`), list))
        : list;
    });
    const frame = this.keep("readings", readings, () => element("div", { class: other ? "readings" : undefined }, ...readings));
    fill(content, [heading, ...pinned, frame]);
    const lit = content.querySelector(".lit");
    if (!lit) return;
    // Only within the chat: the page itself stays where the reader put it.
    const [box, row] = [content.getBoundingClientRect(), lit.getBoundingClientRect()];
    if (row.top < box.top || row.bottom > box.bottom) content.scrollTop += row.top - box.top - (box.height - row.height) / 2;
  }

  /** The classes of a row: lit where the step changed it, gone, and differing from the other reading. */
  classes(row, isLit, ...others) {
    const readings = this.page.other ? [this.page.timeline, this.page.other] : [];
    const [one, other] = readings.map((reading) => reading.rows.get(row.entity));
    const differs = sayings(one) !== sayings(other) && !readings.some((reading) => !reading.rows.has(row.entity) && reading.hides(row));
    return [isLit ? "lit" : "", row.isGone ? "gone" : "", differs ? "differs" : "", ...others].join(" ").trim();
  }

  drawMessages(timeline, number, channel) {
    const messages = timeline.messages(channel);
    const changes = new Map(timeline.position > 0 ? timeline.step().changes.map((change) => [change.entity, change]) : []);
    const lit = messages.findIndex((row) => changes.has(row.entity));
    const end = lit < 0 ? messages.length : Math.min(messages.length, lit + this.page.shownMax / 2);
    const start = Math.max(0, end - this.page.shownMax);
    const depths = new Map();
    const items = messages.slice(start, end).flatMap((row) => {
      const parent = row.fields.replyTo?.id ?? row.fields.replyTo;
      const name = parts(row.entity).parts;
      const above = parent === undefined ? undefined : `message:${name[0]}/${name[1]}/${encoded(parent)}`;
      const depth = above === undefined ? 0 : Math.min(8, (depths.get(above) ?? 0) + 1);
      depths.set(row.entity, depth);
      const answered = above && timeline.rows.get(above);
      const change = changes.get(row.entity);
      const classes = this.classes(row, change !== undefined, `depth-${depth}`);
      return [
        ...this.unloaded(timeline.hiddenBefore(row.entity)),
        this.keep(`${number} ${row.entity}`, [row, answered, change, classes], () => this.drawMessage(row, classes, above && [above, answered], change)),
      ];
    });
    const more = (count, where) =>
      count > 0
        ? element(
            "li",
            {},
            element(
              "button",
              { type: "button", onclick: () => this.page.showMore() },
              `${count} ${where}: show more`,
            ),
          )
        : null;
    const behind = end === messages.length ? this.unloaded(timeline.hiddenBehind(this.page.place)) : [];
    return [more(start, "earlier"), ...items, more(messages.length - end, "later"), ...behind].filter((item) => item !== null);
  }

  /** Says how many messages are not here, and gets more. */
  unloaded(count) {
    if (count === 0) return [];
    return [element("li", { class: "unloaded", "data-hidden": String(count) }, element("button", { type: "button", onclick: () => this.page.showMore() }, `${count} not loaded: show more`))];
  }

  drawMessage(row, classes, above, change) {
    const { fields } = row;
    const author = fields.authorName ?? fields.author ?? "somebody";
    const before = change?.fields.content?.a;
    const text =
      change?.change === "changed" && typeof before === "string" && before !== fields.content
        ? element(
            "p",
            { class: "text", dir: "auto" },
            ...drawnPieces(wordDifference(before, String(fields.content ?? ""))),
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
        { type: "button", class: "link", onclick: () => this.page.chooseEntity(above[0]) },
        `answers ${shown(parent.fields.authorName ?? parent.fields.author ?? "somebody")}`,
      );
    return element(
      "li",
      { class: classes, "data-entity": row.entity },
      element(
        "button",
        { type: "button", class: "who", title: "Its history", onclick: () => this.page.chooseEntity(row.entity) },
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
  drawRows(timeline, number) {
    const changes = new Set(timeline.position > 0 ? timeline.step().changes.map((change) => change.entity) : []);
    const rows = [...timeline.rows.values()].filter((row) => placeOf(row.entity) === this.page.place);
    rows.sort((left, right) => compare(left.entity, right.entity));
    const items = rows.slice(0, this.page.shownMax).map((row) => {
      const classes = this.classes(row, changes.has(row.entity));
      return this.keep(`${number} ${row.entity}`, [row, classes], () =>
        element(
          "li",
          { class: classes, "data-entity": row.entity },
          element(
            "button",
            { type: "button", class: "who", title: "Its history", onclick: () => this.page.chooseEntity(row.entity) },
            element("bdi", {}, shown(decoded(parts(row.entity).parts.at(-1)))),
          ),
          element("p", { class: "text", dir: "auto" }, shown(brief(row.fields))),
        ),
      );
    });
    const rest = rows.length - items.length + timeline.hiddenBehind(this.page.place);
    if (rest > 0) items.push(element("li", {}, element("button", { type: "button", onclick: () => this.page.showMore() }, `${rest} more`)));
    return items;
  }
}
