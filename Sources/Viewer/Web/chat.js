// The places of a log, and what people saw in one of them.

class ChatPanel {
  /** More rows than these are not kept as elements. */
  static keptMax = 400;

  constructor(page) {
    this.page = page;
    // What was drawn, by what it shows: a step changes little of it. The places apart, of which all are shown at once.
    this.kept = new Map();
    this.places = [];
    this.items = new Map();
    // The drawn messages by name. The elements of one that is no longer shown serve another one.
    this.messages = new Map();
  }

  /** The element for a name: that which was drawn of the same values, else a new one. */
  keep(name, values, draw) {
    const known = this.kept.get(name);
    if (known && known.values.length === values.length && known.values.every((value, index) => value === values[index])) return known.drawn;
    if (this.kept.size >= ChatPanel.keptMax) this.kept.clear();
    const drawn = draw();
    this.kept.set(name, { values, drawn });
    return drawn;
  }

  draw() {
    this.drawPlaces();
    this.drawContent();
  }

  /** Draws the list of places. What it has of a place stays, and only what differs is written. */
  drawPlaces() {
    const { timeline, place: shownPlace } = this.page;
    // Of a step that was loaded alone, the places are those of the steps before, without the counts that it does not know.
    const places = timeline.isAlone && this.places.length > 0 ? this.places : timeline.places();
    if (this.places !== places) {
      this.places = places;
      const items = new Map(places.map(({ key }) => [key, this.items.get(key) ?? this.placeItem(key)]));
      this.items = items;
      const list = this.keep("places", [], () => element("ul", {}));
      fill(list, [...items.values()].map(({ item }) => item));
      fill(byID("places"), [list]);
    }
    const lit = new Set(timeline.position > 0 ? timeline.step().changes.map((change) => placeOf(change.entity)) : []);
    for (const { key, count } of places) {
      const drawn = this.items.get(key);
      const row = drawn.channel === undefined ? undefined : timeline.rows.get(drawn.channel);
      // A step that was loaded alone does not know the names of other channels.
      if (drawn.row !== row && !(row === undefined && timeline.isAlone)) {
        drawn.row = row;
        write(drawn.title, shown(this.page.title(key)));
      }
      write(drawn.count, timeline.isAlone ? "…" : String(count));
      mark(drawn.button, "class", lit.has(key) ? "lit" : undefined);
      mark(drawn.button, "aria-current", key === shownPlace ? "true" : undefined);
    }
    if (timeline.isAlone) for (const { key, count } of timeline.places()) if (this.items.has(key)) write(this.items.get(key).count, String(count));
  }

  placeItem(key) {
    const [title, count] = [element("bdi", {}, shown(this.page.title(key))), element("span", { class: "quiet" })];
    const button = element("button", { type: "button", onclick: () => this.page.choose(key) }, title, " ", count);
    const [kind, source, id] = key.split("\n");
    const channel = kind === "channel" ? `channel:${source}/${id}` : undefined;
    return { item: element("li", {}, button), button, title, count, channel, row: channel && this.page.timeline.rows.get(channel) };
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
    const drawn = messages.slice(start, end).map((row) => {
      const parent = row.fields.replyTo?.id ?? row.fields.replyTo;
      const name = parts(row.entity).parts;
      const above = parent === undefined ? undefined : `message:${name[0]}/${name[1]}/${encoded(parent)}`;
      const depth = above === undefined ? 0 : Math.min(8, (depths.get(above) ?? 0) + 1);
      depths.set(row.entity, depth);
      const change = changes.get(row.entity);
      const classes = this.classes(row, change !== undefined, `depth-${depth}`);
      return { row, name: `${number} ${row.entity}`, values: [row, above && timeline.rows.get(above), change, classes, above] };
    });
    const items = this.messageItems(drawn, number).flatMap((item, place) => [...this.unloaded(timeline.hiddenBefore(drawn[place].row.entity)), item.item]);
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

  /** The elements of messages. Those of the same values stay as they are; those of messages that have gone are written anew. */
  messageItems(drawn, number) {
    const free = new Map([...this.messages].filter(([name]) => name.startsWith(`${number} `)));
    for (const { name } of drawn) free.delete(name);
    const unused = [...free.values()];
    for (const name of free.keys()) this.messages.delete(name);
    return drawn.map(({ name, values }) => {
      let item = this.messages.get(name);
      if (!item) this.messages.set(name, (item = unused.pop() ?? this.messageItem()));
      if (item.values?.every((value, index) => value === values[index])) return item;
      item.values = values;
      this.writeMessage(item, ...values);
      return item;
    });
  }

  messageItem() {
    const made = { author: element("bdi"), notes: element("span", { class: "quiet" }), text: element("p", { class: "text", dir: "auto" }) };
    const who = element("button", { type: "button", class: "who", title: "Its history", onclick: () => this.page.chooseEntity(made.values[0].entity) }, made.author);
    const choose = () => this.page.chooseEntity(made.values[4]);
    made.answered = [document.createTextNode(" "), element("button", { type: "button", class: "link", onclick: choose })];
    made.item = element("li", {}, who, " ", made.notes, made.text);
    return made;
  }

  /** Writes a message into its elements; `above` is the name of the one that it answers, `parent` its row. */
  writeMessage({ item, author, notes, text, answered }, row, parent, change, classes, above) {
    const { fields } = row;
    mark(item, "class", classes);
    mark(item, "data-entity", row.entity);
    write(author, shown(fields.authorName ?? fields.author ?? "somebody"));
    const told = [
      time(fields.createdAt),
      fields.editedAt ? `edited ${time(fields.editedAt)}` : undefined,
      row.isGone ? `deleted${fields.deletedBy ? " by " + shown(fields.deletedBy) : ""}` : undefined,
      fields.revisions > 1 ? `${fields.revisions} versions` : undefined,
      above && !parent ? "answers what is not shown" : undefined,
    ];
    write(notes, told.filter((note) => note).join(" · "));
    if (parent) {
      write(answered[1], `answers ${shown(parent.fields.authorName ?? parent.fields.author ?? "somebody")}`);
      notes.after(...answered);
    } else for (const node of answered) node.remove();
    const [before, content] = [change?.fields.content?.a, shown(fields.content ?? "")];
    const isEdit = change?.change === "changed" && typeof before === "string" && before !== fields.content;
    if (isEdit) text.replaceChildren(...drawnPieces(wordDifference(before, String(fields.content ?? ""))));
    else if (row.isGone) text.replaceChildren(element("del", {}, content));
    else if (text.childNodes.length === 1) write(text, content);
    else text.textContent = content;
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
