// Cells that run in the page. Nothing of Python is loaded before the first press of Run; then live-worker.js starts it. The
// sources are those that the page shows, and names are shared by all cells of a page. book/press/address.py says on which pages.
(function () {
  "use strict";

  const STATIC = new URL("./", document.currentScript.src).href;
  const BASE = new URL("../_live/", STATIC).href;
  // What almost every cell needs. What the cells up to the pressed one import comes with it; the rest when it is imported.
  const FIRST = ["numpy", "lazy_loader", "adalib"];
  // What these import when they are imported.
  const WITH = { adabook: ["plotly", "narwhals", "pandas", "dateutil", "six"], pandas: ["dateutil", "six"], plotly: ["narwhals"], sklearn: ["scipy", "joblib", "threadpoolctl"] };
  const [START, MEGABITS] = [6, 20]; // seconds until Python runs once it is here, and what a line of today carries in one
  const FROM_DISK =
    "You opened this page from a folder, where a browser cannot run Python. Your changes are kept, and Download saves them as a notebook. To run them, open the chapter's notebook (START-HERE.md in your folder says how), or ask your teacher for the book's address. If you built the book yourself, type make live and make serve.";
  const ABSENT = "This copy of the book comes without Python: type make live where it was built, then load this page again.";

  const PAGE = location.pathname.split("/").pop().replace(/\.html$/, "");

  let worker = null;
  const cells = [];

  // What a reader wrote, by cell, in this browser alone. A cell that the book has changed since then is the book's again.
  const edits = {
    name: (cell) => `adalib-live:${PAGE}:${cell.at}`,
    read(cell) {
      try {
        const found = JSON.parse(localStorage.getItem(this.name(cell)));
        return found?.original === cell.original ? found.source : null;
      } catch {
        return null; // a browser that keeps nothing
      }
    },
    write(cell) {
      try {
        localStorage.setItem(this.name(cell), JSON.stringify({ original: cell.original, source: cell.source }));
      } catch {
        cell.say("This browser does not keep your changes: download them before you leave.");
      }
    },
    drop(cell) {
      try {
        localStorage.removeItem(this.name(cell));
      } catch {
        // there is nothing to drop
      }
    },
  };

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // --- one cell --------------------------------------------------------------------------------------------------------

  class Cell {
    constructor(box, at) {
      this.at = at;
      this.box = box;
      this.shown = box.querySelector(".cell_input .highlight");
      this.original = this.shown.querySelector("pre").textContent.replace(/\n$/, "");
      this.folded = Boolean(this.shown.closest("details.adalib-code:not(.adalib-exercise)"));
      this.solved = Boolean(box.closest(".solution"));
      this.kept = box.querySelector(":scope > .cell_output");
      // The numbers of its figures, games and tables, and where they stand; the explorer's comes with its sentence.
      this.numbers = [...(this.kept?.querySelectorAll("p.adalib-told, :not(p) > .adalib-number") || [])].map((each) => [each, each.parentElement]);
      this.editor = null;
      this.output = null;
      this.tools = element("div", { className: "live-tools" });
      const run = this.act("Run", "Run this cell, and what it needs from above (Shift+Enter)", () => press(this));
      for (const sign of ["pointerenter", "focus"]) run.addEventListener(sign, () => foretell(this), { once: true });
      this.edit = this.act("Edit", "Change this cell", () => this.open());
      this.act("Run all above", "Run every cell above this one", () => press(this, true));
      this.shown.closest(".cell_input").append(this.tools);
      box.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !event.shiftKey) return;
        event.preventDefault();
        press(this);
      });
    }

    act(text, title, call) {
      const made = element("button", { type: "button", className: "live-button", textContent: text, title });
      made.addEventListener("click", call);
      this.tools.append(made);
      return made;
    }

    // What a cell that nobody touches does not have.
    touch() {
      if (this.said) return;
      this.reset = this.act("Reset", "The cell and its output as the book has them", () => this.restore());
      this.save = this.act("Download", "All cells of this page as they are now, as a notebook", download);
      this.stop = this.act("Stop", "Stop Python; the next run starts it again", stop);
      this.bar = element("progress", { max: 1, ariaLabel: "Loading Python" });
      this.said = element("span", { className: "live-said", role: "status" });
      this.reset.hidden = this.save.hidden = this.stop.hidden = this.bar.hidden = true;
      this.tools.append(this.bar, this.said);
    }

    get source() {
      return this.editor ? this.editor.value : this.original;
    }

    open() {
      this.writeIn(this.original);
      this.editor.focus();
    }

    // What the reader wrote last time is back.
    recall() {
      const source = edits.read(this);
      if (source === null) return;
      this.writeIn(source);
      this.say("Your changes from last time. Reset shows the book's cell.");
    }

    writeIn(source) {
      this.touch();
      if (!this.editor) {
        this.editor = element("textarea", { className: "live-editor", spellcheck: false, autocapitalize: "off", value: source });
        this.editor.ariaLabel = "Code of this cell; Escape, then Tab, leaves it";
        this.editor.addEventListener("input", () => {
          this.fit();
          edits.write(this);
        });
        this.editor.addEventListener("keydown", (event) => this.key(event));
        this.shown.hidden = true;
        this.shown.after(this.editor);
        this.fit();
        this.reset.hidden = this.save.hidden = false;
      }
    }

    // Tab indents; after Escape it moves on, so that nobody is caught here.
    key(event) {
      if (event.key === "Escape") this.leaving = true;
      else if (event.key === "Tab" && !event.shiftKey && !this.leaving) {
        event.preventDefault();
        this.editor.setRangeText("    ", this.editor.selectionStart, this.editor.selectionEnd, "end");
      } else if (event.key !== "Tab") this.leaving = false;
    }

    fit() {
      this.editor.rows = this.editor.value.split("\n").length;
    }

    restore() {
      edits.drop(this);
      this.editor?.remove();
      this.editor = null;
      this.shown.hidden = false;
      this.takeBack();
      this.output = null;
      if (this.kept) for (const part of [this.kept, ...this.kept.children]) part.hidden = false;
      this.reset.hidden = this.save.hidden = true;
      this.say("");
      this.edit.focus();
    }

    say(text) {
      if (this.said.textContent !== text) this.said.textContent = text; // else it is read aloud again
      this.bar.hidden = true;
    }

    load({ loaded, planned }) {
      this.say(`Loading Python${planned ? ` (${(planned / 1e6).toFixed(0)} MB)` : ""} …`);
      this.bar.hidden = false;
      this.bar.value = loaded / planned || 0;
    }

    // The last run's output goes; the numbers that its captions had are the book's again.
    takeBack() {
      for (const [number, caption] of this.numbers) caption.prepend(number);
      this.lent = 0;
      this.output?.remove();
    }

    begin() {
      this.touch();
      this.takeBack();
      this.output = element("div", { className: "cell_output live-output" });
      if (this.kept) {
        // The box for an answer stays.
        const boxes = [...this.kept.children].filter((part) => part.querySelector(".adalib-answer-form"));
        if (boxes.length) for (const part of this.kept.children) part.hidden = !boxes.includes(part);
        else this.kept.hidden = true;
        this.kept.after(this.output);
      } else this.box.append(this.output);
      this.reset.hidden = false;
    }

    show(as, text) {
      if (as === "html") return this.markup(text);
      if (as === "trace") return this.output.append(element("details", { className: "live-trace" }, element("summary", {}, "where"), element("pre", {}, text)));
      if (as === "unanswered" && this.kept?.querySelector(".adalib-answer-form")) return; // the box says it
      const last = this.output.lastElementChild;
      if (as === "text" && last?.matches("pre.live-text")) last.append(text);
      else this.output.append(element("pre", { className: `live-${as}` }, text));
    }

    markup(text) {
      const place = element("div", { className: "output text_html", innerHTML: text });
      this.output.append(place);
      for (const script of place.querySelectorAll("script:not([type='application/json'])")) {
        script.replaceWith(element("script", { type: script.type, textContent: script.textContent })); // this one runs
      }
      for (const caption of place.querySelectorAll("figcaption, caption, [id^='adalib-explorer-']")) {
        const [number] = this.numbers[this.lent++] || []; // that of what it replaces
        if (number?.matches("p")) caption.before(number);
        else if (number) caption.prepend(number, " ");
      }
      for (const div of place.querySelectorAll(".plotly-graph-div")) window.dispatchEvent(new CustomEvent("adalib-figure", { detail: div }));
      for (const [name, play] of Object.entries(window.adalibGames || {})) {
        place.querySelectorAll(`.adalib-${name}`).forEach(play);
      }
    }
  }

  // The page's code as a notebook, with the reader's changes.
  function download() {
    const text = `# ${document.title}\n\nThe code of this page as you left it. The text is in the book: ${location.href}`;
    const made = { kernelspec: { display_name: "Python 3", language: "python", name: "python3" } };
    const code = (each) => ({ cell_type: "code", id: `cell-${each.at}`, metadata: {}, source: each.source, outputs: [], execution_count: null });
    const first = { cell_type: "markdown", id: "where-from", metadata: {}, source: text };
    const notebook = { nbformat: 4, nbformat_minor: 5, metadata: made, cells: [first, ...cells.map(code)] };
    const file = new Blob([JSON.stringify(notebook, null, 1)], { type: "application/x-ipynb+json" });
    const link = element("a", { href: URL.createObjectURL(file), download: `${PAGE}-mine.ipynb` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // some browsers read it later
  }

  // --- Python ------------------------------------------------------------------------------------------------------------

  /** The modules that a run of a cell will import, as far as its source and those above tell. */
  function modules(last) {
    const imports = cells.slice(0, last.at + 1).flatMap(({ source }) => [...source.matchAll(/^[ \t]*(?:from|import) +(\w+)/gm)]);
    return [...new Set([...FIRST, ...imports.flatMap(([, name]) => [name, ...(WITH[name] ?? [])])])];
  }

  let listed = null;
  /** Before the first press: how much will be loaded. Asked when a reader points at Run, so that others load nothing. */
  async function foretell(cell) {
    if (worker || listed || location.protocol === "file:") return;
    listed = fetch(`${BASE}index.json`).then((answer) => (answer.ok ? answer.json() : null));
    const index = await listed.catch(() => null);
    if (worker) return;
    cell.touch();
    if (!index) return cell.say(ABSENT);
    const files = ["pyodide.asm.wasm", "python_stdlib.zip", ...modules(cell).map((name) => index.modules[name])];
    const megabytes = [...new Set(files)].reduce((sum, name) => sum + (index.bytes[name] ?? 0), 0) / 1e6;
    cell.say(`The first run loads ${megabytes.toFixed(0)} MB, about ${Math.ceil((START + (8 * megabytes) / MEGABITS) / 5) * 5} seconds; the next ones start at once.`);
  }

  let pressed = null; // the cell whose button was pressed last

  function press(cell, all = false) {
    cell.touch();
    if (location.protocol === "file:") return cell.say(FROM_DISK);
    pressed = cell;
    if (!worker) {
      cell.load({});
      worker = new Worker(`${STATIC}live-worker.js`, { type: "module" });
      worker.onmessage = ({ data }) => hear(data);
      worker.onerror = (event) => hear({ kind: "broken", text: event.message || "its script cannot be loaded" });
      worker.postMessage({ kind: "start", base: BASE, code: `${STATIC}live.py`, first: modules(cell) });
    } else cell.say("Waiting …");
    cell.stop.hidden = false;
    worker.postMessage({ kind: "run", at: cell.at, all, cells: cells.map((each) => [each.source, each.solved, each.folded]) });
  }

  function hear(data) {
    const cell = cells[data.at];
    const asking = cells[data.by] || pressed;
    // The output of a folded cell that only made names is on the page already.
    const silent = cell && cell.folded && cell !== asking;
    if (data.kind === "loading") asking.load(data);
    else if (data.kind === "doing") asking.say(data.text);
    else if (data.kind === "begin" && !silent) cell.begin();
    else if (data.kind === "shown" && silent && data.as === "error") asking.say(`${data.text} (in folded code above)`);
    else if (data.kind === "shown" && !silent) cell.show(data.as, data.text);
    else if (data.kind === "done") finish(cell, data);
    else if (data.kind === "broken") {
      asking.say(data.absent ? ABSENT : `Python stopped: ${data.text}. Press Run to start it again.`);
      end();
    }
  }

  function finish(cell, { failed, before = 0 }) {
    cell.stop.hidden = true;
    if (failed === undefined) cell.say(before ? `Done, with ${before} cell${before > 1 ? "s" : ""} above.` : "Done.");
    else if (failed === cell.at) cell.say("");
    else if (!cells[failed].folded) cell.say(`Stopped: the cell above that starts with “${cells[failed].source.trim().split("\n")[0]}” raised an error.`);
  }

  function stop() {
    end();
    for (const cell of cells) if (cell.said?.textContent.endsWith("…")) cell.say("Stopped. The next run starts Python again.");
  }

  function end() {
    worker?.terminate();
    worker = null;
    for (const cell of cells) if (cell.stop) cell.stop.hidden = true;
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const box of document.querySelectorAll(".bd-article div.cell")) {
      if (box.matches(".tag_skip-execution")) continue; // it needs JupyterLab
      if (box.querySelector(".cell_input .highlight pre")) cells.push(new Cell(box, cells.length));
    }
    for (const cell of cells) cell.recall();
  });
})();
