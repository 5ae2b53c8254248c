// What a page has a server do: find the first bad event between two points, and write fixtures. A page that is a file names the commands.

class Work {
  constructor(page) {
    this.page = page;
    this.good = undefined;
    this.bad = undefined;
    const click = (id, action) => byID(id).addEventListener("click", action);
    click("mark-good", () => this.mark("good"));
    click("mark-bad", () => this.mark("bad"));
    click("propose", () => this.propose());
    click("bisect", () => this.bisect());
    click("freeze", () => this.freeze());
    byID("when").addEventListener("input", () => this.tell());
    this.tell();
  }

  /** Takes the shown step as the good or the bad point. */
  mark(name) {
    const { timeline } = this.page;
    byID("work").open = true;
    this[name] = timeline.position;
    byID(name).textContent = timeline.position === 0 ? "the state before the first event" : `event ${timeline.sequence(timeline.position)}`;
    if (name === "bad" && byID("when").value === "") this.propose();
    this.tell();
    this.page.axis.paint();
  }

  /** The sequences of the two points. */
  get points() {
    const { timeline } = this.page;
    const sequence = (index) => (index === 0 ? String(BigInt(timeline.header.from) - 1n) : String(timeline.sequence(index)));
    return [sequence(this.good ?? 0), sequence(this.bad ?? timeline.last)];
  }

  /** The test that the message which the shown step changes says what it says there. */
  propose() {
    const { timeline } = this.page;
    const changed = timeline.step().changes.map((change) => change.entity).concat(this.page.chosen ?? []);
    const entity = changed.reverse().find((name) => parts(name).kind === "message" && timeline.rows.has(name));
    if (entity === undefined) return this.say("This step changes no message: write what is wrong, or choose a step that does.");
    const row = timeline.rows.get(entity);
    const id = parts(entity).parts.map(decoded).join("/");
    byID("when").value = row.isGone
      ? `exists(deletedMessages[${JSON.stringify(id)}].id)`
      : `messages[${JSON.stringify(id)}].content == ${expressionText(row.fields.content ?? "")}`;
    this.tell();
  }

  /** The command that does the same. */
  tell() {
    const [good, bad] = this.points;
    const when = byID("when").value || "EXPRESSION";
    byID("bisect-command").replaceChildren(...copyable(`logtool bisect LOG --good ${good} --bad ${bad} --when ${quoted(when)}`).childNodes);
    for (const id of ["bisect", "freeze"]) byID(id).disabled = !this.page.timeline.ask;
    if (!this.page.timeline.ask) this.say("A file cannot do it: logtool import makes a log of it, and the command above, logtool freeze and logtool view work with that.");
  }

  say(text) {
    byID("work-says").textContent = text;
  }

  async bisect() {
    const { timeline } = this.page;
    if (!timeline.ask) return;
    byID("work").open = true;
    const [good, bad] = this.points;
    this.say("Looking for the first bad event …");
    try {
      const answer = await timeline.document(`bisect?good=${good}&bad=${bad}&when=${encodeURIComponent(byID("when").value)}`);
      if (answer.first === undefined) return this.say(`Not found: ${answer.reason} (${answer.tested} states tested).`);
      await this.page.goTo(answer.first);
      this.say(`The first bad event is ${answer.first} (${answer.tested} states tested).`);
    } catch (error) {
      this.say(`It cannot be searched: ${error.message}`);
    }
  }

  async freeze() {
    const { timeline } = this.page;
    try {
      const name = byID("fixture").value;
      const question = `freeze?at=${timeline.sequence(timeline.position)}&name=${encodeURIComponent(name)}`;
      const { folder } = await (await timeline.ask(question, { method: "POST" })).json();
      this.say(`Frozen: ${folder}. Next: logtool check ${quoted(folder)}`);
    } catch (error) {
      this.say(`Nothing is frozen: ${error.message}`);
    }
  }
}

/** A text as an expression has it. */
function expressionText(text) {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}

// ---- What a decoder read

/** A payload of JSON as elements, with line breaks; lit where its bytes are within one of some ranges. Tokens stand as they were sent. */
function drawnPayload(text, ranges) {
  const pieces = [];
  const [open, close] = [/[{[]/, /[}\]]/];
  let [depth, bytes, end, isEmpty] = [0, 0, 0, false];
  const width = (piece) => new TextEncoder().encode(piece).length;
  const line = () => "\n" + "  ".repeat(depth);
  for (const match of text.matchAll(/"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    const token = match[0];
    bytes += width(text.slice(end, match.index));
    const place = bytes + (token[0] === '"' ? 1 : 0);
    bytes += width(token);
    end = match.index + token.length;
    if (close.test(token[0]) && token.length === 1) {
      depth--;
      if (!isEmpty) pieces.push(line());
    } else if (isEmpty) pieces.push(line());
    const isLit = ranges.some(([from, to]) => from <= place && (place < to || (from === to && place === from)));
    pieces.push(isLit && token !== "," && token !== ":" ? element("mark", {}, shown(token)) : shown(token));
    isEmpty = open.test(token[0]) && token.length === 1;
    if (isEmpty) depth++;
    if (token === ",") pieces.push(line());
    if (token === ":") pieces.push(" ");
  }
  return pieces;
}
