// A reader's own file, read on this page and never sent anywhere.

const BUDGETS = [1, 2, 4, 8, 16];

class BadFile extends Error {}

/** A file the reader dropped, as a setting. Throws BadFile with one clear line. */
async function readFile(file) {
  const gz = /\.gz$/i.test(file.name);
  let text;
  try {
    text = await (gz ? new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))) : file).text();
  } catch {
    throw new BadFile(`${file.name}: cannot be read${gz ? "; is it really a gzip file?" : "."}`);
  }
  return parse(file.name, text.replace(/^\ufeff/, ""));
}

function parse(name, text) {
  if (!text.trim()) throw new BadFile(`${name}: the file is empty.`);
  const setting = /^\s*\{/.test(text) ? parseJsonLines(name, text) : parseCsv(name, text);
  return { ...setting, name: "yours", title: name, kind: "yours", estimated: true };
}
