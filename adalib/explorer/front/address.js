// The address: #lambda=...&pin=...&set=...&q=..., so that a teacher can link to a view.

/** Of several explorers on a page the first one owns the address; a heading's anchor is left alone until a move. */
class Address {
  static owner = Symbol.for("adalib.explorer.address");

  constructor(explorer, allowed) {
    this.explorer = explorer;
    this.owned = allowed && !window[Address.owner]?.isConnected;
    this.read = this.read.bind(this);
  }

  start() {
    if (!this.owned) return;
    window[Address.owner] = this.explorer.root;
    this.explorer.copy.hidden = false;
    this.read();
    window.addEventListener("hashchange", this.read);
  }

  view() {
    const { state, table, pinned } = this.explorer;
    const { setting } = table;
    const view = new URLSearchParams({ lambda: state.lam });
    if (pinned) view.set("pin", pinned.lam);
    if (state.budget !== null) view.set("budget", state.budget);
    view.set("set", setting.name);
    view.set("q", setting.ids?.[state.selected] ?? state.selected);
    return `#${view}`;
  }

  /** Put the link on the clipboard; where a page may not, show it to be copied by hand. */
  async copy(button) {
    const link = location.href.split("#")[0] + this.view();
    const { setting } = this.explorer.table;
    if (setting.opened) this.explorer.file.say(`The link holds the price but not your file: its reader must open ${visible(setting.title)} too.`);
    try {
      await navigator.clipboard.writeText(link);
      set(button, { style: `min-width:${button.getBoundingClientRect().width}px` }); // the buttons next to it stay where they are
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy link to this view"), 2000);
    } catch {
      prompt("The link to this view:", link);
    }
  }

  write() {
    if (!this.owned) return;
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      try {
        history.replaceState(history.state, "", this.view());
      } catch {
        // A sandboxed page may not touch its address; the explorer works without.
      }
    }, 200);
  }

  read() {
    const { explorer } = this;
    const view = new URLSearchParams(location.hash.slice(1));
    const number = (key) => {
      const value = view.get(key)?.trim() ? Number(view.get(key)) : NaN;
      return Number.isFinite(value) && value >= 0 ? value : undefined;
    };
    const at = explorer.settings.findIndex((one) => one.name === view.get("set"));
    if (at < 0 && view.get("set") === OPENED) {
      explorer.file?.say("The view in this address belongs to a file that was opened on the page, which a link cannot carry. Open that file here.");
      return;
    }
    if (at >= 0 && at !== explorer.state.at) explorer.useSetting(at);
    const change = {};
    if (number("lambda") !== undefined) Object.assign(change, { lam: Math.min(number("lambda"), explorer.table.range.high), budget: null });
    if (number("budget") !== undefined) change.budget = number("budget");
    if (view.has("q")) {
      const { ids } = explorer.table.setting;
      const row = (ids ?? []).indexOf(view.get("q"));
      change.selected = row >= 0 ? row : ids ? explorer.state.selected : Number(view.get("q"));
    }
    if (number("pin") !== undefined) explorer.pinAt(number("pin"));
    if (!view.has("set") && !Object.keys(change).length) return; // the address is a heading's, or holds no view
    explorer.move(change, { silent: true });
    const { top, bottom } = explorer.root.getBoundingClientRect();
    if (top > 0.6 * window.innerHeight || bottom < 0.4 * window.innerHeight) explorer.root.scrollIntoView();
  }

  stop() {
    clearTimeout(this.writing);
    window.removeEventListener("hashchange", this.read);
    if (window[Address.owner] === this.explorer.root) delete window[Address.owner];
  }
}
