// The places of a log, and what people saw in one of them.

class ChatPanel {
  constructor(page) {
    this.page = page;
  }

  draw() {
    this.drawPlaces();
    this.drawContent();
  }

  drawPlaces() {
    const lit = new Set(this.page.timeline.step().changes.map((change) => placeOf(change.entity)));
    const items = this.page.timeline.places().map((place) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            "aria-current": place.key === this.page.place ? "true" : undefined,
            class: lit.has(place.key) && this.page.timeline.position > 0 ? "lit" : undefined,
            onclick: () => this.page.choose(place.key),
          },
          element("bdi", {}, shown(this.page.title(place.key))),
          " ",
          element("span", { class: "quiet" }, String(place.count)),
        ),
      ),
    );
    byID("places").replaceChildren(element("ul", {}, ...items));
  }

  /** Draws the shown place, as each reading has it. */
  drawContent() {
    const content = byID("content");
    if (this.page.place === undefined) return content.replaceChildren(element("p", { class: "quiet" }, "Nothing yet."));
    const [kind, source, id] = this.page.place.split("\n");
    const heading = element("h2", { dir: "auto" }, shown(this.page.title(this.page.place)));
    const pinned = this.page.isPinned ? element("p", { class: "quiet" }, "Stays here; choose it again to follow the steps.") : null;
    const readings = (this.page.other ? [this.page.timeline, this.page.other] : [this.page.timeline]).map((timeline) => {
      const rows = kind === "channel" ? this.drawMessages(timeline, `${source}/${id}`) : this.drawRows(timeline);
      return this.page.other ? element("section", {}, element("h3", {}, `As ${timeline.header.profile}`), rows) : rows;
    });
    content.replaceChildren(heading, ...(pinned ? [pinned] : []), element("div", { class: this.page.other ? "readings" : undefined }, ...readings));
    const lit = content.querySelector(".lit");
    if (!lit) return;
    // Only within the chat: the page itself stays where the reader put it.
    const [box, row] = [content.getBoundingClientRect(), lit.getBoundingClientRect()];
    if (row.top < box.top || row.bottom > box.bottom) content.scrollTop += row.top - box.top - (box.height - row.height) / 2;
  }

  /** The classes of a row: lit where the step changed it, gone, and differing from the other reading. */
  classes(row, isLit, ...others) {
    const differs = this.page.other && sayings(this.page.timeline.rows.get(row.entity)) !== sayings(this.page.other.rows.get(row.entity));
    return [isLit ? "lit" : "", row.isGone ? "gone" : "", differs ? "differs" : "", ...others].join(" ").trim();
  }

  drawMessages(timeline, channel) {
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
              { type: "button", onclick: () => this.page.showMore() },
              `${count} ${where}: show more`,
            ),
          )
        : null;
    const behind = end === messages.length ? this.unloaded(timeline.hiddenBehind(this.page.place)) : [];
    return element("ol", { class: "messages" }, more(start, "earlier"), ...items, more(messages.length - end, "later"), ...behind);
  }

  /** Says how many messages are not here, and gets more. */
  unloaded(count) {
    if (count === 0) return [];
    return [element("li", { class: "unloaded", "data-hidden": String(count) }, element("button", { type: "button", onclick: () => this.page.showMore() }, `${count} not loaded: show more`))];
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
      { class: this.classes(row, change !== undefined, `depth-${depth}`), "data-entity": row.entity },
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
  drawRows(timeline) {
    const changes = new Set(timeline.position > 0 ? timeline.step().changes.map((change) => change.entity) : []);
    const rows = [...timeline.rows.values()].filter((row) => placeOf(row.entity) === this.page.place);
    rows.sort((left, right) => compare(left.entity, right.entity));
    const items = rows.slice(0, this.page.shownMax).map((row) =>
      element(
        "li",
        { class: this.classes(row, changes.has(row.entity)), "data-entity": row.entity },
        element(
          "button",
          { type: "button", class: "who", title: "Its history", onclick: () => this.page.chooseEntity(row.entity) },
          element("bdi", {}, shown(decoded(parts(row.entity).parts.at(-1)))),
        ),
        element("p", { class: "text", dir: "auto" }, shown(brief(row.fields))),
      ),
    );
    const rest = rows.length - items.length + timeline.hiddenBehind(this.page.place);
    if (rest > 0) items.push(element("li", {}, element("button", { type: "button", onclick: () => this.page.showMore() }, `${rest} more`)));
    return element("ol", { class: "rows" }, ...items);
  }
}
