// The event of the shown step: its envelope, what it changed, its payload and proof.

class EventPanel {
  /** More changes of a step are counted. */
  static changesMax = 200;

  constructor(page) {
    this.page = page;
  }

  draw() {
    const { timeline } = this.page;
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
      element("div", { id: "connection" }),
      ...this.drawChanges(timeline, step),
      ...(this.page.other ? this.drawChanges(this.page.other, this.page.other.step()) : []),
      element("h3", {}, event.redacted ? "Payload, redacted" : "Payload"),
      element("pre", { id: "payload", dir: "auto", tabindex: "0", "aria-label": "Payload" }, shown(pretty(event))),
      element("div", { id: "reads" }),
      element("h3", {}, "Copy as command"),
      copyable(command),
      copyable(this.page.replayCommand(event.sequence)),
      ...this.drawWithout(event),
      element("h3", {}, "Proof"),
      this.drawProof(event.sequence),
      copyable(`logtool prove LOG ${event.sequence}`),
    );
    this.drawConnection(event);
    this.drawReads(event);
  }

  /** What would be without the event: a button where a server can tell, and the command. */
  drawWithout(event) {
    const { left, timeline } = this.page;
    const text = left === undefined ? "Show as if it had never arrived" : `Show the log alone, with event ${left}`;
    const button = timeline.without ? [element("p", {}, element("button", { type: "button", id: "without", onclick: () => this.page.leaveOut() }, text))] : [];
    return [...button, copyable(`logtool view LOG --without ${event.sequence}`)];
  }

  /** Names the connection of the event, with links to the events at which it began, was greeted and ended. */
  async drawConnection(event) {
    const { timeline } = this.page;
    const name = event.attributes?.connection;
    if (name === undefined) return;
    // Of a file at once, so that the page does not move when it is drawn again.
    const known = timeline.connection(event);
    const row = known instanceof Promise ? await known.catch(() => undefined) : known;
    if (!row?.events || timeline.event()?.sequence !== event.sequence) return;
    const links = row.events.map(({ sequence, title }) => {
      const isHere = timeline.holds(sequence);
      const text = `${shown(title)}: event ${sequence}`;
      const isShown = sequence === event.sequence ? "true" : undefined;
      return element("li", {}, isHere ? element("button", { type: "button", class: "link", "aria-current": isShown, onclick: () => this.page.goTo(sequence) }, text) : text);
    });
    byID("connection").replaceChildren(element("h3", {}, "Connection ", element("bdi", {}, shown(name))), element("ul", { class: "changes" }, ...links));
  }

  /** Lights what the decoder file read of the event, once it is known; a page that is a file names the command. */
  async drawReads(event) {
    const { timeline } = this.page;
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
      copyable(`logtool decoder explain LOG ${event.sequence}`),
    );
  }

  /** A button that gets the proof of an event and checks it here; of a page that is a file, what makes it. */
  drawProof(sequence) {
    if (!this.page.timeline.ask) return element("p", { class: "quiet" }, "This file has no tree of the log: a log made of it, or this command, has the proof.");
    return provable(sequence, () => this.page.timeline.proof(sequence));
  }

  /** What a step changed, with a heading that names the reading where there are two. */
  drawChanges(timeline, step) {
    const reading = this.page.other ? `, as ${timeline.header.profile}` : "";
    const changes = step.changes.slice(0, EventPanel.changesMax).map((change) =>
      element(
        "li",
        {},
        element("span", { class: "word" }, change.change),
        " ",
        element("button", { type: "button", class: "link", onclick: () => this.page.chooseEntity(change.entity) }, element("bdi", {}, shown(change.entity))),
        element("ul", {}, ...Object.entries(change.fields).map(([name, values]) => this.drawField(name, values))),
      ),
    );
    return [
      element("h3", {}, (step.changes.length > 0 ? "Changed" : "Changed nothing") + reading),
      element("ul", { class: "changes" }, ...changes),
      ...(step.changes.length > changes.length ? [element("p", { class: "quiet" }, `${step.changes.length - changes.length} more`)] : []),
    ];
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
}
