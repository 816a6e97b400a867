// The reader's own file: a button to open one, a place to drop one, how far the reading is, and one clear line when
// it cannot be used.

const DROP = "Open or drop a CSV of accuracies or a JSON Lines file of answers, from one model or several. It is read on this page and never sent.";

class OwnFile {
  constructor(explorer) {
    this.explorer = explorer;
    this.trouble = h("p", { class: "ax-trouble", role: "alert", hidden: true });
    const opener = h("button", { type: "button", text: "Open your own file" });
    const picker = h("input", { type: "file", accept: ".csv,.jsonl,.ndjson,.json,.txt,.gz", hidden: true, "aria-label": "Your own file" });
    this.hint = h("span", { class: "ax-hint", role: "status" });
    this.nodes = [opener, picker];
    this.bar = h("progress", { max: 1, "aria-label": "How much of the file is read" });
    const stop = h("button", { type: "button", text: "Stop" });
    this.reading = h("p", { class: "ax-reading", hidden: true }, "Reading ", this.bar, stop);
    stop.addEventListener("click", () => this.stop());
    opener.addEventListener("click", () => picker.click());
    picker.addEventListener("change", () => {
      if (picker.files[0]) this.open(picker.files[0]);
      picker.value = "";
    });
    this.acceptDrops(explorer.root);
  }

  acceptDrops(root) {
    const over = (on) => (event) => {
      event.preventDefault();
      root.classList.toggle("ax-over", on);
    };
    root.addEventListener("dragover", over(true));
    root.addEventListener("dragleave", over(false));
    root.addEventListener("drop", (event) => {
      over(false)(event);
      if (event.dataTransfer.files[0]) this.open(event.dataTransfer.files[0]);
    });
  }

  /** Read and show a file; a second one takes the place of the first, also while that one is being read. */
  async open(file) {
    const wanted = (this.wanted = Symbol());
    const slices = new Slices((share) => {
      if (this.wanted !== wanted) return false;
      this.reading.hidden = false;
      this.bar.value = share;
      return true;
    });
    this.trouble.hidden = true;
    try {
      const setting = await readFile(file, slices);
      if (this.wanted !== wanted) return;
      this.explorer.addSetting(setting);
    } catch (error) {
      if (this.wanted !== wanted) return; // stopped
      const name = visible(file.name);
      this.trouble.textContent = error instanceof BadFile ? visible(error.message) : `${name}: cannot be explored (${error.message}).`;
      this.trouble.hidden = false;
    }
    this.reading.hidden = true;
  }

  /** A line about files: how to open one, or what a link does to one. */
  say(text = DROP) {
    this.hint.textContent = text;
  }

  stop() {
    this.wanted = null;
    this.reading.hidden = true;
  }
}
