// Elements and texts of a page. Everything that comes from a log becomes text; nothing of it becomes markup.

/** An element with attributes and children; a child that is a text becomes text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** Makes some elements the children of another one. Those that are there already stay where they are, so that little is laid out anew. */
function fill(parent, children) {
  const wanted = new Set(children);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  let next = parent.firstChild;
  for (const child of children) {
    if (child === next) next = next.nextSibling;
    else parent.insertBefore(child, next);
  }
}

/** Makes an element's text another one, if it differs. */
function write(node, text) {
  if (node.firstChild?.data !== text) node.textContent = text;
}

/** Gives an element an attribute or takes it, if that changes something. */
function mark(node, name, value) {
  if (value === undefined) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

const byID = (id) => document.getElementById(id);

/** A text as a log has it, in its own direction. Control characters and marks of direction are written out. */
function shown(text) {
  return String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

const time = (text) => (text ?? "").replace("T", " ").replace(/\.?0*Z$/, "");

/** A line to copy, with a button. */
function copyable(text) {
  const code = element("code", {}, text);
  return element(
    "p",
    { class: "copy" },
    code,
    " ",
    element("button", { type: "button", "aria-label": `Copy: ${text}`, onclick: () => copy(code) }, "copy"),
  );
}

/** An id as a part of an entity's name. */
function encoded(id) {
  return String(id).replaceAll("%", "%25").replaceAll("/", "%2F");
}

/** A word as a shell takes it. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The members of a row on one line. */
function brief(fields) {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
}

function isJSON(text) {
  try {
    // What is longer is shown as it is.
    return text !== undefined && text.length < 200000 && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/** A payload with line breaks where it is JSON, or has JSON within. */
function pretty(event) {
  if (event.payload === undefined) return `${event.payloadBase64 ?? ""} (base64)`;
  try {
    return JSON.stringify(JSON.parse(event.payload), null, 2);
  } catch {
    return event.payload;
  }
}

/** Bytes that JSON has in base64. */
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  // Going through the text by its iterator takes ten times as long.
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  return bytes;
}

function hex(base64) {
  return Array.from(bytesOf(base64), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Why a proof does not hold, or not for an event that is named (RFC 9162, 2.1.3.2); undefined where it does. */
async function faultOf(proof, sequence) {
  if (sequence !== undefined && BigInt(proof.leafIndex) + 1n !== BigInt(sequence)) return "it is the proof of another event";
  const hash = async (...pieces) => new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(pieces.flatMap((piece) => [...piece]))));
  const same = (left, right) => left.length === right.length && left.every((byte, index) => byte === right[index]);
  let node = bytesOf(proof.leafHash);
  if (proof.leaf !== undefined && !same(await hash([0], bytesOf(proof.leaf)), node)) return "the leaf hash is not that of the leaf";
  let [index, last] = [BigInt(proof.leafIndex), BigInt(proof.treeSize) - 1n];
  for (const text of proof.proof) {
    const other = bytesOf(text);
    if (last === 0n) return "its path is too long";
    if (index & 1n || index === last) {
      node = await hash([1], other, node);
      while (!(index & 1n) && index !== 0n) [index, last] = [index >> 1n, last >> 1n];
    } else node = await hash([1], node, other);
    [index, last] = [index >> 1n, last >> 1n];
  }
  return last === 0n && same(node, bytesOf(proof.root)) ? undefined : "its path does not lead to the root";
}

/** Copies the text of an element; where a page from a disk may not, selects it. */
function copy(code) {
  const select = () => getSelection().selectAllChildren(code);
  if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).catch(select);
  else select();
}

/** A button that checks the proof of an event here, which `get` gives, and shows its path. */
function provable(sequence, get) {
  const place = element("div", { "aria-live": "polite" });
  const check = async () => {
    try {
      const proof = await get();
      const fault = await faultOf(proof, sequence);
      const holds = fault === undefined ? `Checked here: event ${sequence} is in the log of ${proof.treeSize} events with the root ${hex(proof.root)}.` : `It does not hold: ${fault}.`;
      place.replaceChildren(
        element("p", {}, holds),
        element("ol", { class: "path" }, ...[proof.leafHash, ...proof.proof].map((hash) => element("li", {}, element("code", {}, hex(hash))))),
      );
    } catch (error) {
      place.replaceChildren(element("p", {}, `There is no proof: ${error.message}`));
    }
  };
  return element("div", {}, element("button", { type: "button", onclick: check }, "Check the proof"), place);
}

/** Pieces of wordDifference as elements. */
function drawnPieces(pieces) {
  return pieces.map(([kind, words]) => (kind === "same" ? shown(words) : element(kind === "gone" ? "del" : "ins", {}, shown(words))));
}

/** Opens the list of keys, each with what it does. */
function openKeys(keys) {
  const dialog = byID("help");
  dialog.replaceChildren(
    element("h2", {}, "Keys"),
    element("dl", {}, ...keys.flatMap(([key, text]) => [element("dt", {}, key), element("dd", {}, text)])),
    element("button", { type: "button", onclick: () => dialog.close() }, "close"),
  );
  dialog.showModal();
}
