// Texts of a log: their order, the names of things, the words that differ.

/** A text around what was found in it. */
function around(text, wanted) {
  const place = text.toLowerCase().indexOf(wanted);
  return (place > 40 ? "…" : "") + text.slice(Math.max(0, place - 40), place + wanted.length + 80);
}

/** Compares texts by their UTF-8 bytes, as the log orders them. */
function compare(left, right) {
  const count = Math.min(left.length, right.length);
  for (let index = 0; index < count; index++) {
    const [here, there] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (here !== there) return rank(here) - rank(there);
  }
  return left.length - right.length;
}

/** A code unit in the order of UTF-8: the halves of a pair stand for code points behind all others. */
function rank(unit) {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** The kind and the parts of an entity's name; `%2F` and its like stand for slashes within a part. */
function parts(entity) {
  const colon = entity.indexOf(":");
  return { kind: entity.slice(0, colon), parts: entity.slice(colon + 1).split("/") };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The words of two texts, as [kind, words]: "same", "gone" or "new", of a change what went first. Long changes are told as a whole. */
function wordDifference(before, after) {
  const words = (text) => text.match(/\s+|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]+/gu) ?? [];
  const [a, b] = [words(before), words(after)];
  let [start, end] = [0, 0];
  const least = Math.min(a.length, b.length);
  while (start < least && a[start] === b[start]) start++;
  while (end < least - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = changedWords(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const found = [];
  let [gone, added] = ["", ""];
  const close = () => {
    if (gone !== "") found.push(["gone", gone]);
    if (added !== "") found.push(["new", added]);
    [gone, added] = ["", ""];
  };
  const keep = (text) => {
    close();
    if (found.at(-1)?.[0] === "same") found.at(-1)[1] += text;
    else if (text !== "") found.push(["same", text]);
  };
  keep(a.slice(0, start).join(""));
  middle.forEach(([kind, text], index) => {
    // Spaces between two changes belong to both, which then read as one.
    const isBetween = kind === "same" && text.trim() === "" && index > 0 && index < middle.length - 1;
    if (kind === "same" && !isBetween) return keep(text);
    if (kind !== "new") gone += text;
    if (kind !== "gone") added += text;
  });
  close();
  keep(a.slice(a.length - end).join(""));
  return found;
}

/** The words of two lists in runs, as [kind, words]. */
function changedWords(a, b) {
  if (a.length * b.length > 250000) return [["gone", a.join("")], ["new", b.join("")]];
  const length = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const found = [];
  const add = (kind, text) => {
    if (found.at(-1)?.[0] === kind) found.at(-1)[1] += text;
    else found.push([kind, text]);
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i++]);
      j++;
    } else if (j === b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) add("gone", a[i++]);
    else add("new", b[j++]);
  }
  return found;
}
