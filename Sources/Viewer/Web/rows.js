// The rows of a log's things: what a change makes of one, and the places that they are in.

/** How many rows more a place has by a change. A message that came deleted counts as little as one that left so. */
function growth(change) {
  const isGone = (side) => parts(change.entity).kind === "message" && change.fields.cause?.[side] !== undefined;
  switch (change.change) {
    case "added":
      return isGone("b") ? 0 : 1;
    case "removed":
      return isGone("a") ? 0 : -1;
    case "deleted":
      return -1;
    case "restored":
      return 1;
    default:
      return 0;
  }
}

/** A row with a change: whole where it is new, else with the members that changed. */
function changed(known, change, orders) {
  if (change.change === "removed") return undefined;
  const row = { ...(known ?? { entity: change.entity, fields: {} }) };
  row.fields = { ...row.fields };
  for (const [name, values] of Object.entries(change.fields)) {
    if (values.b === undefined) delete row.fields[name];
    else row.fields[name] = values.b;
  }
  // Each issue of a kind is added for itself.
  if (change.fields.count === undefined && parts(row.entity).kind === "issue") row.fields.count = (known?.fields.count ?? 0) + 1;
  if (change.change === "restored") for (const name of ["cause", "deletedAt", "deletedBy"]) delete row.fields[name];
  // What a deleted message has and no other: how it was deleted.
  row.isGone = parts(row.entity).kind === "message" && row.fields.cause !== undefined;
  const order = orders?.[change.entity];
  if (order !== undefined) row.order = order;
  return row;
}

/** A row as two readings of it are compared; its place in the channel is not part of it. */
function sayings(row) {
  return row === undefined ? "" : JSON.stringify(Object.entries(row.fields).sort());
}

/** The steps at which two readings of one log begin to differ in some row. Leaves both at the last step. */
function partings(one, other) {
  const [found, apart] = [[], new Set()];
  for (let index = 0; index <= one.last; index++) {
    one.go(index);
    other.go(index);
    const count = found.length;
    for (const { entity } of [...one.step().changes, ...other.step().changes]) {
      if (sayings(one.rows.get(entity)) === sayings(other.rows.get(entity))) apart.delete(entity);
      else if (!apart.has(entity)) {
        apart.add(entity);
        if (found.length === count) found.push(index);
      }
    }
  }
  return found;
}

/** What a step is marked as on the axis; undefined where nothing is. */
function markOf(step, event) {
  const kinds = new Set(step.changes.map((change) => change.change + " " + parts(change.entity).kind));
  if (kinds.has("added issue")) return "issue";
  if (kinds.has("deleted message")) return "delete";
  if (kinds.has("changed message") || kinds.has("restored message")) return "edit";
  if (event?.kind === "recorder.gap/1") return "gap";
  if (event?.kind === "recorder.link/1") return "link";
  return undefined;
}

/** The name by which a server knows a place, and back. */
function placeText(place) {
  const [kind, ...rest] = place.split("\n");
  return `${{ channel: "message", issues: "issue" }[kind] ?? kind}:${rest.join("/")}`;
}

function placeKey(text) {
  const { kind, parts: rest } = parts(text);
  return [{ message: "channel", issue: "issues" }[kind] ?? kind, ...rest].join("\n");
}

/** The place of a thing: the channel of a message, the list of an item, the table of a row; undefined for what has none. */
function placeOf(entity, name = parts(entity)) {
  if (name.kind === "message" || name.kind === "channel") return `channel\n${name.parts[0]}\n${name.parts[1]}`;
  if (name.kind === "issue") return `issues\n${name.parts[0]}`;
  if (name.parts.length > 2) return `${name.kind}\n${name.parts[0]}\n${name.parts[1]}`;
  return name.parts.length === 2 ? `${name.kind}\n${name.parts[0]}` : undefined;
}
