"use strict";
// The blocks of data of a page. The other scripts follow in the same one.

/** The JSON values of a block of data. */
async function values(text) {
  return (await lines(text)).map((line) => JSON.parse(line));
}

/** The lines of JSON of a block of data: each of its own lines is a gzip member in base64 that holds some of them. */
async function lines(text) {
  const pieces = await Promise.all(text.split("\n").filter((line) => line !== "").map(decompressed));
  return pieces.flatMap((piece) => piece.split("\n").filter((line) => line !== ""));
}

async function decompressed(base64) {
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : bytesOf(base64);
  const decoder = new TextDecoder();
  if (typeof DecompressionStream === "undefined") return decoder.decode(inflated(bytes));
  // Not by way of a Blob and a Response, which take twice as long.
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  // The reader meets the error of damaged data, too.
  for (const written of [writer.write(bytes), writer.close()]) written.catch(() => {});
  const reader = stream.readable.getReader();
  for (let text = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}

/** What a gzip member without optional fields expands to (RFC 1951 and 1952), for browsers that cannot do it themselves. */
function inflated(bytes) {
  const bases = (extra, first) => extra.map(((next) => (bits) => ((next += 1 << bits), next - (1 << bits)))(first));
  const lengthBits = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
  const distanceBits = [0, 0, 0, 0, ...Array.from({ length: 26 }, (_, index) => (index >> 1) + 1)];
  const [lengths, distances] = [bases(lengthBits, 3), bases(distanceBits, 1)];
  lengths[28] = 258;
  const size = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4).getUint32(0, true);
  const output = new Uint8Array(size);
  let [place, bit, end] = [10, 0, 0];
  const take = (count) => {
    let value = 0;
    for (let index = 0; index < count; index++) {
      value |= ((bytes[place] >> bit) & 1) << index;
      if (++bit === 8) [bit, place] = [0, place + 1];
    }
    return value;
  };
  const table = (sizes) => {
    const counts = new Array(16).fill(0);
    for (const count of sizes) counts[count]++;
    counts[0] = 0;
    const starts = [0];
    for (let index = 1; index < 16; index++) starts[index] = starts[index - 1] + counts[index - 1];
    const symbols = [];
    sizes.forEach((count, symbol) => {
      if (count > 0) symbols[starts[count]++] = symbol;
    });
    return { counts, symbols };
  };
  const symbol = ({ counts, symbols }) => {
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length < 16; length++) {
      code |= take(1);
      if (code - counts[length] < first) return symbols[index + code - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
    throw new Error("the data is damaged");
  };
  const fixed = [
    table(Array.from({ length: 288 }, (_, index) => (index < 144 ? 8 : index < 256 ? 9 : index < 280 ? 7 : 8))),
    table(new Array(30).fill(5)),
  ];
  const dynamic = () => {
    const [literals, offsets, codes] = [take(5) + 257, take(5) + 1, take(4) + 4];
    const sizes = new Array(19).fill(0);
    const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    for (let index = 0; index < codes; index++) sizes[order[index]] = take(3);
    const lengthTable = table(sizes);
    const all = [];
    while (all.length < literals + offsets) {
      const next = symbol(lengthTable);
      if (next < 16) all.push(next);
      else if (next === 16) all.push(...new Array(3 + take(2)).fill(all[all.length - 1]));
      else all.push(...new Array(next === 17 ? 3 + take(3) : 11 + take(7)).fill(0));
    }
    return [table(all.slice(0, literals)), table(all.slice(literals))];
  };
  for (let isLast = false; !isLast; ) {
    isLast = take(1) === 1;
    const kind = take(2);
    if (kind === 0) {
      if (bit > 0) [bit, place] = [0, place + 1];
      const count = bytes[place] | (bytes[place + 1] << 8);
      output.set(bytes.subarray(place + 4, place + 4 + count), end);
      [place, end] = [place + 4 + count, end + count];
      continue;
    }
    const [literals, offsets] = kind === 1 ? fixed : dynamic();
    for (let next = symbol(literals); next !== 256; next = symbol(literals)) {
      if (next < 256) output[end++] = next;
      else {
        const count = lengths[next - 257] + take(lengthBits[next - 257]);
        const code = symbol(offsets);
        const distance = distances[code] + take(distanceBits[code]);
        for (let index = 0; index < count; index++, end++) output[end] = output[end - distance];
      }
    }
  }
  return output;
}
