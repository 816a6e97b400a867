// Python in a worker (Pyodide), for live.js: loads it, runs cells, and posts what they show. Every file comes from _live/.
let base, index, pyodide, page;
let running = 0; // the cell whose output is posted
let asked; // the cell whose button was pressed
let loaded = 0;
let planned = 0;

const post = (kind, more) => self.postMessage({ kind, by: asked, ...more });
let phase = ""; // what is done now, in words
const doing = (text) => post("doing", { text: (phase = text) });
const size = (name) => index.bytes[name] || 0;

// All that Pyodide fetches is counted on its way, so that the page can tell how far it is.
const plain = self.fetch.bind(self);
self.fetch = async (...what) => {
  const answer = await plain(...what);
  if (!answer.ok || !answer.body) return answer;
  const counted = new TransformStream({
    transform(chunk, out) {
      loaded += chunk.byteLength;
      if (loaded < planned) post("loading", { loaded, planned });
      else if (!page) doing("Starting Python …"); // all is here
      out.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(counted), { status: answer.status, headers: answer.headers });
};

function unpack(name, data) {
  if (name.endsWith(".whl")) pyodide.unpackArchive(data, "wheel");
  else pyodide.unpackArchive(data, "zip", { extractDir: site() });
  if (name === "adalib.zip") layData();
}

const site = () => pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");

// The bundled answers are files that are fetched when they are opened.
function layData() {
  for (const path of index.data) {
    const folder = `${site()}/adalib/data/${path}`.replace(/\/[^/]*$/, "");
    pyodide.FS.mkdirTree(folder);
    pyodide.FS.createLazyFile(folder, path.replace(/^.*\//, ""), `${base}data/${path}.bin`, true, false);
  }
}

const brought = new Set();

// Import cannot wait, so what it needs is fetched while it stands still; this is a worker, and the page does not.
function bring(module) {
  const name = index.modules[module];
  if (brought.has(name)) return;
  brought.add(name);
  post("doing", { text: `Loading ${module} (${(size(name) / 1e6).toFixed(1)} MB) …` });
  const request = new XMLHttpRequest();
  request.open("GET", base + name, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`${name} cannot be loaded (${request.status})`);
  unpack(name, request.response);
  doing(phase);
}

async function start(message) {
  base = message.base;
  const found = await plain(`${base}index.json`);
  if (!found.ok) throw new Error("absent");
  index = await found.json();
  const first = [...new Set(message.first.map((module) => index.modules[module]).filter(Boolean))]; // others are Python's own
  const core = ["pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];
  planned = [...core, ...first].reduce((sum, name) => sum + size(name), 0);
  const { loadPyodide } = await import(`${base}pyodide.mjs`);
  const [python] = await Promise.all([
    loadPyodide({ indexURL: base }),
    ...first.map((name) => fetch(base + name).then((answer) => answer.arrayBuffer()).then((data) => waiting.push([name, data]))),
  ]);
  pyodide = python;
  doing("Unpacking …");
  for (const [name, data] of waiting.splice(0)) {
    brought.add(name);
    unpack(name, data);
  }
  const source = await (await plain(message.code)).text();
  pyodide.FS.writeFile(`${site()}/adalib_live.py`, source);
  const say = (kind, text) => post("shown", { at: running, as: kind, text });
  page = pyodide.pyimport("adalib_live").start(say, pyodide.toPy(Object.keys(index.modules)), bring);
}
const waiting = [];

function run({ at, all, cells }) {
  asked = at;
  page.update(pyodide.toPy(cells));
  const before = (all ? page.above(at) : page.needs(at)).toJs();
  const todo = all ? before : [...before, at];
  for (const [done, cell] of todo.entries()) {
    running = cell;
    const of = `${done + 1} of ${before.length}`;
    doing(all ? `Running the cells above (${of}) …` : cell === at ? "Running …" : `Running what it needs from above (${of}) …`);
    post("begin", { at: cell });
    const well = all || cell === at ? page.run(cell) : page.run_needed(cell);
    post("end", { at: cell, well });
    if (!well) return post("done", { at, failed: cell });
  }
  post("done", { at, before: before.length });
}

let ready = null;
self.onmessage = async ({ data }) => {
  try {
    if (data.kind === "start") {
      ready = start(data);
      await ready;
    } else {
      await ready;
      run(data);
    }
  } catch (error) {
    post("broken", { text: error.message, absent: error.message === "absent" });
  }
};
