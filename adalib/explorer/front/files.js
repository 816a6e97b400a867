// A reader's own file, read on this page and never sent anywhere: from bytes to a setting, in slices.

class BadFile extends Error {}

const OPENED = "yours"; // how an address names the file that was opened on the page
const LARGEST = 4e8; // bytes of text; a browser holds no longer text than about this

/** Long work in slices: after each the page has a moment for its reader, and may say that it is no longer wanted. */
class Slices {
  constructor(progress = () => true) {
    this.progress = progress;
    this.until = performance.now() + 30;
  }

  get due() {
    return performance.now() > this.until;
  }

  /** Hand the page back; `share` of the work is done. Throws when `progress` says that the work is no longer wanted. */
  async rest(share) {
    if (this.progress(share) === false) throw new BadFile("stopped");
    await new Promise((go) => setTimeout(go));
    this.until = performance.now() + 30;
  }
}

/** A file the reader dropped, as a setting. Throws BadFile with one clear line. */
async function readFile(file, slices = new Slices()) {
  const gz = /\.gz$/i.test(file.name);
  let bytes;
  try {
    const stream = file.stream();
    bytes = await gather(file.name, gz ? stream.pipeThrough(new DecompressionStream("gzip")) : stream);
  } catch (error) {
    if (error instanceof BadFile) throw error;
    throw new BadFile(`${file.name}: cannot be read${gz ? "; is it really a gzip file?" : "."}`);
  }
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw new BadFile(`${file.name}: is gzip data; add .gz to its name.`);
  if (bytes.subarray(0, 512).includes(0)) throw new BadFile(`${file.name}: is no text but a picture or the like; open a CSV or JSON Lines file.`);
  return parse(file.name, decode(file.name, bytes), slices);
}

/** All bytes of a stream, as long as they are not too many: a small gzip file may hold anything. */
async function gather(name, stream) {
  const chunks = [];
  let size = 0;
  const reader = stream.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    size += value.length;
    if (size > LARGEST) {
      reader.cancel();
      throw new BadFile(`${name}: is too large for a page (over ${LARGEST / 1e6} MB); write one with: python -m adalib explore.`);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** UTF-8 as text, without a byte order mark; the line of a byte that is none is named. */
function decode(name, bytes) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    return decoder.decode(bytes);
  } catch {
    let line = 1;
    for (let from = 0; from < bytes.length; line++) {
      const end = bytes.indexOf(10, from);
      try {
        decoder.decode(bytes.subarray(from, end < 0 ? bytes.length : end));
      } catch {
        break;
      }
      from = end + 1;
    }
    throw new BadFile(`${name}, line ${line}: is not UTF-8; save the file as UTF-8.`);
  }
}

async function parse(name, text, slices) {
  if (!text.trim()) throw new BadFile(`${name}: the file is empty.`);
  if (/\.json(\.gz)?$/i.test(name)) text = unwrapped(text);
  const json = /^\s*[[{]/.test(text) || /\.(jsonl|ndjson|json)(\.gz)?$/i.test(name);
  const setting = await (json ? parseJsonLines(name, text, slices) : parseCsv(name, text, slices));
  return { ...setting, name: OPENED, title: name, kind: "yours", estimated: true, opened: true };
}

/** One JSON array of questions as JSON Lines; anything else as it is, for the reader of lines to judge. */
function unwrapped(text) {
  try {
    const list = /^\s*\[/.test(text) && JSON.parse(text);
    return list ? list.map((one) => JSON.stringify(one)).join("\n") : text;
  } catch {
    return text;
  }
}
