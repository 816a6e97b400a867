// The reader's own file: a button to open one, a place to drop one, and one clear line when it cannot be used.

const DROP = "or drop a CSV of accuracies or a JSON Lines of answers here. It is read on this page and never sent.";

class OwnFile {
  constructor(explorer) {
    this.explorer = explorer;
    this.trouble = h("p", { class: "ax-trouble", role: "alert", hidden: true });
    const opener = h("button", { type: "button", text: "Open your own file" });
    const picker = h("input", { type: "file", accept: ".csv,.jsonl,.ndjson,.json,.txt,.gz", hidden: true, "aria-label": "Your own file" });
    this.nodes = [opener, picker, h("span", { class: "ax-hint", text: DROP })];
    opener.addEventListener("click", () => picker.click());
    picker.addEventListener("change", () => {
      if (picker.files[0]) this.open(picker.files[0]);
      picker.value = "";
    });
    const { root } = explorer;
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

  async open(file) {
    const { trouble } = this;
    try {
      const setting = await readFile(file);
      trouble.hidden = true;
      this.explorer.addSetting(setting);
    } catch (error) {
      trouble.textContent = error instanceof BadFile ? error.message : `${file.name}: cannot be explored (${error.message}).`;
      trouble.hidden = false;
    }
  }
}
