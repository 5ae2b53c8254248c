// One thing's history, and what a search found.

class FindsPanel {
  constructor(page) {
    this.page = page;
  }

  /** The versions of the chosen thing, as a strip. */
  async draw() {
    const section = byID("history");
    const { chosen } = this.page;
    section.hidden = chosen === undefined;
    if (chosen === undefined) return;
    if (this.told?.entity !== chosen || this.told.last !== this.page.timeline.last)
      try {
        this.told = { entity: chosen, last: this.page.timeline.last, ...(await this.historyOf(chosen)) };
      } catch (error) {
        this.told = { entity: chosen, last: this.page.timeline.last, entries: [], count: 0, error: error.message };
      }
    if (this.page.chosen !== chosen) return;
    const items = this.told.entries.map((entry) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            "aria-current": entry.index === this.page.timeline.position ? "true" : undefined,
            onclick: () => this.page.show(entry.index),
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
      element("button", { type: "button", onclick: () => this.page.chooseEntity(chosen) }, "close"),
      copyable(`logtool history LOG ${quoted(chosen)}`),
      ...(this.told.error === undefined ? [] : [element("p", {}, shown(this.told.error))]),
      ...(rest > 0 ? [element("p", { class: "quiet" }, `${rest} earlier versions are not shown; the command has all.`)] : []),
      element("ol", { class: "strip" }, ...items),
    );
  }

  async historyOf(entity) {
    // A thing that the first reading never had is one of the other reading.
    const own = await this.page.timeline.history(entity);
    return own.entries.length > 0 || !this.page.other ? own : this.page.other.history(entity);
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
        const answer = await this.page.timeline.search(text, from);
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
        element("button", { type: "button", onclick: () => this.page.show(row.index) }, row.name),
        element("span", { dir: "auto" }, " " + shown(row.text)),
      ),
    );
    byID("found").replaceChildren(
      element("h2", {}, more ? `Found ${found.length} before event ${this.page.timeline.sequence(next)}` : `Found ${found.length}`),
      element("ol", {}, ...items),
      ...(more ? [element("button", { type: "button", onclick: more }, "Search on")] : []),
    );
  }
}
