// The axis of a page: how much happened when, what was edited and deleted, the gaps, and the part of it that is shown.

class Axis {
  /** The height of the density and of the marks below it. */
  static heights = { density: 24, marks: 10 };

  constructor(page) {
    this.page = page;
    this.wish = 0;
    this.isWhole = true;
    this.range = { from: 1, to: Math.max(1, page.timeline.last) };
    this.drawn = undefined;
    this.listen();
  }

  listen() {
    const click = (id, action) => byID(id).addEventListener("click", action);
    const canvas = byID("density");
    let start;
    canvas.addEventListener("pointerdown", (event) => (start = event.offsetX));
    canvas.addEventListener("pointerup", (event) => {
      if (start === undefined || !this.drawn) return;
      const [left, right] = [Math.min(start, event.offsetX), Math.max(start, event.offsetX)];
      start = undefined;
      if (right - left < 5) return this.page.show(this.stepAt(left));
      this.zoom(this.stepAt(left), this.stepAt(right));
    });
    click("zoom-in", () => this.closer());
    click("zoom-out", () => this.wider());
    click("zoom-all", () => this.all());
    byID("day").addEventListener("change", (event) => this.day(event.target.value));
    byID("only").addEventListener("change", () => this.draw());
    addEventListener("resize", () => this.draw());
  }

  /** The first step at a place of the canvas. */
  stepAt(x) {
    const { starts, counts, to } = this.drawn;
    const bucket = Math.max(0, Math.min(counts.length - 1, Math.floor((x / byID("density").clientWidth) * counts.length)));
    return Math.min(to, starts[bucket]);
  }

  zoom(from, to) {
    const { last } = this.page.timeline;
    this.range = { from: Math.max(1, Math.min(from, to)), to: Math.max(1, Math.min(last, Math.max(from, to))) };
    this.isWhole = this.range.from === 1 && this.range.to === last;
    this.draw();
    const { position } = this.page.timeline;
    if (position < this.range.from || position > this.range.to) this.page.show(this.range.from);
  }

  /** The half around the step that is shown. */
  closer() {
    const span = Math.max(1, Math.floor((this.range.to - this.range.from + 1) / 4));
    const middle = Math.max(this.range.from, Math.min(this.range.to, this.page.timeline.position));
    this.zoom(Math.max(this.range.from, middle - span), Math.min(this.range.to, middle + span));
  }

  wider() {
    const span = Math.max(1, Math.ceil((this.range.to - this.range.from + 1) / 2));
    this.zoom(Math.max(1, this.range.from - span), this.range.to + span);
  }

  all() {
    this.zoom(1, this.page.timeline.last);
  }

  async day(date) {
    if (date === "") return this.all();
    try {
      const [from, to] = await this.page.timeline.day(date);
      this.zoom(from, to);
    } catch (error) {
      this.page.say(error.message);
    }
  }

  /** Goes on with a log that has grown. */
  grow() {
    if (this.isWhole) this.range = { from: 1, to: Math.max(1, this.page.timeline.last) };
    this.draw();
  }

  /** Asks for the axis of the range and draws it. */
  async draw() {
    const wish = ++this.wish;
    const { timeline, place } = this.page;
    const canvas = byID("density");
    const width = Math.max(1, canvas.clientWidth || canvas.parentElement.clientWidth || 600);
    const buckets = Math.min(400, width);
    const slider = byID("slider");
    [slider.min, slider.max] = [String(this.isWhole ? 0 : this.range.from), String(this.range.to)];
    slider.value = String(timeline.position);
    if (timeline.last < 1) return;
    try {
      const only = byID("only").checked ? place : undefined;
      const axis = await timeline.axis(this.range.from, this.range.to, buckets, only);
      if (wish !== this.wish) return;
      this.drawn = axis;
    } catch (error) {
      if (wish === this.wish) this.page.say(`The axis is not known: ${error.message}`);
      return;
    }
    canvas.width = width;
    this.paint();
    this.tell();
    // The marks of a long log follow.
    if (this.drawn.pending) setTimeout(() => wish === this.wish && this.draw(), 300);
  }

  /** Where a step stands on the canvas: by its time where the axis has times and the time is known. */
  placeOf(index, when) {
    const { times, from, to } = this.drawn;
    const width = byID("density").width;
    const part = times.length === 2 && when >= 0 ? (when - times[0]) / (times[1] - times[0]) : (index - from + 0.5) / (to - from + 1);
    return Math.max(0, Math.min(width - 1, part * width));
  }

  /** Draws the axis and where the shown step is on it. What does not change from step to step is drawn once. */
  paint() {
    const canvas = byID("density");
    const context = canvas.getContext("2d");
    if (!context || !this.drawn) return;
    const { timeline, work } = this.page;
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const known = [this.drawn, canvas.width, work?.good, work?.bad, isDark];
    if (!this.still || known.some((value, index) => value !== this.still.known[index])) {
      const style = getComputedStyle(document.documentElement);
      const colour = (name) => style.getPropertyValue("--" + name).trim();
      context.clearRect(0, 0, canvas.width, canvas.height);
      this.paintStill(context, canvas, colour);
      this.still = { known, cursor: colour("link"), picture: context.getImageData(0, 0, canvas.width, canvas.height) };
    } else context.putImageData(this.still.picture, 0, 0);
    if (timeline.position < this.range.from || timeline.position > this.range.to) return;
    context.fillStyle = this.still.cursor;
    context.fillRect(this.placeOf(timeline.position, Date.parse(timeline.event()?.recordedAt)), 0, 2, canvas.height);
  }

  paintStill(context, canvas, colour) {
    const { counts, marks, gaps } = this.drawn;
    const { density } = Axis.heights;
    const step = canvas.width / counts.length;
    const most = counts.reduce((left, right) => Math.max(left, right), 1);
    context.fillStyle = colour("gap");
    context.globalAlpha = 0.3;
    for (const gap of gaps) {
      const left = this.placeOf(gap.after, Date.parse(gap.from));
      const right = gap.to === undefined || gap.to === null ? canvas.width : this.placeOf(gap.through, Date.parse(gap.to));
      context.fillRect(left, 0, Math.max(2, right - left), canvas.height);
    }
    context.globalAlpha = 1;
    context.fillStyle = colour("quiet");
    counts.forEach((count, bucket) => {
      const height = count === 0 ? 0 : Math.max(1, (count / most) * (density - 2));
      context.fillRect(bucket * step, density - height, Math.max(1, step), height);
    });
    for (const mark of ["link", "gap", "edit", "delete", "issue"]) {
      context.fillStyle = colour(mark);
      for (const [bucket] of marks[mark] ?? []) context.fillRect(bucket * step, density + 2, Math.max(2, step), Axis.heights.marks);
    }
    const { timeline, work } = this.page;
    for (const [name, index] of [["good", work?.good], ["bad", work?.bad]]) {
      if (index === undefined || index < this.range.from || index > this.range.to) continue;
      context.fillStyle = colour(name === "good" ? "well" : "delete");
      context.fillRect(this.placeOf(index, Date.parse(timeline.event(index)?.recordedAt)) - 1, 0, 3, canvas.height);
    }
  }

  /** Says in words what the canvas shows: the range, the marks, and each gap. */
  tell() {
    const { marks, gaps, gapCount, times } = this.drawn;
    const names = { edit: "edits", delete: "deletions", gap: "events about gaps", link: "events about connections", issue: "events with issues" };
    const counts = Object.entries(names).flatMap(([mark, name]) => {
      const count = (marks[mark] ?? []).reduce((sum, [, many]) => sum + many, 0);
      return count > 0 ? [`${name}: ${count}`] : [];
    });
    const { timeline } = this.page;
    const range = `Events ${timeline.sequence(this.range.from)} to ${timeline.sequence(this.range.to)}`;
    const span = times.length === 2 ? `, ${time(new Date(times[0]).toISOString())} to ${time(new Date(times[1]).toISOString())}` : "";
    const marked = this.drawn.pending ? "; marks are being made" : counts.length > 0 ? "; " + counts.join(", ") : "";
    byID("span").textContent = `${range}${span}${marked}`;
    const list = byID("gaps");
    list.hidden = gapCount === 0;
    const rows = gaps.slice(0, 100).map((gap) => {
      const topic = gap.topic === undefined || gap.topic === null ? "" : ` / ${gap.topic}`;
      const text = `${gap.source}${topic}: ${gap.reason}, ${time(gap.from)} to ${gap.to ? time(gap.to) : "now"}`;
      return element("li", {}, element("button", { type: "button", class: "link", onclick: () => this.page.show(Math.max(gap.after, 0)) }, element("bdi", {}, shown(text))));
    });
    list.replaceChildren(
      element("summary", {}, `${gapCount} ${gapCount === 1 ? "gap" : "gaps"}, shaded: changes may be missing there`),
      element("ul", {}, ...rows, gapCount > rows.length ? element("li", {}, `${gapCount - rows.length} more: logtool gaps LOG`) : null),
    );
  }
}
