// The explorer: its state, the one door for every change, and who is told.

const OPTIMISTIC = "Chosen and scored on the same answers, and so optimistic; see “Estimation”.";
const GROUPS = [["real", "Real models"], ["simulated", "Simulated"], ["yours", "Your file"]];
let serial = 0;

class Explorer {
  /**
   * Put an explorer into `root`. `settings` is a list as made by adalib.explorer.setting; `host` may give start values
   * (lam, budget, selected), `files: false` to leave out the reader's own files, `address: false` to leave the page's
   * address alone, and `changed(state)`, called after every move.
   */
  constructor(root, settings, host = {}) {
    Object.assign(this, { root, host, settings: [...settings], tables: settings.map(() => null) });
    this.state = { at: 0, lam: 0, budget: null, selected: 0 };
    root.classList.add("adalib-explorer");
    // JupyterLab hears every key before we do, and an arrow would leave the cell. It asks the element that has the focus.
    root.addEventListener("focusin", ({ target }) => (target.dataset.lmSuppressShortcuts = "true"));
    this.furnish(`ax${++serial}-${Math.random().toString(36).slice(2, 7)}`);
    this.address = new Address(this, host.address !== false);
    this.listSettings();
    this.useSetting(0);
    this.move({ lam: host.lam, budget: host.budget, selected: host.selected }, { silent: true });
    this.address.start();
    this.watch();
  }

  furnish(uid) {
    const { root, host } = this;
    const act = {
      price: (value) => this.move({ lam: value, budget: null }),
      budget: (value) => this.move({ budget: value }),
      pin: () => this.pinOrForget(),
      pick: (row) => this.move({ selected: row }),
      peekAt: (at) => this.peekAt(at),
      pickAt: (at) => at < this.table.n && this.move({ selected: this.table.path.held[at] }),
      pickStep: (by) => this.move({ selected: (this.state.selected + by + this.table.n) % this.table.n }),
      find: (words) => find(this.table, words),
      again: () => this.refresh(),
    };
    this.choice = h("select", { id: `${uid}-set` });
    this.heading = h("p", { class: "ax-title", role: "heading", "aria-level": 2 });
    this.chosen = h("p", { class: "ax-about" });
    this.note = h("p", { class: "ax-note" });
    this.live = h("p", { class: "ax-hidden", "aria-live": "polite" });
    this.controls = new Controls(act, uid);
    this.panels = [SplitPanel, FrontierPanel, TilesPanel, QuestionPanel, StaircasePanel].map((Panel) => new Panel(act));
    this.challenge = new Challenge(act, uid);
    this.stories = new Stories(this.settings, (step) => this.showStory(step));
    this.pays = new Pays();
    this.file = host.files !== false && new OwnFile(this);
    const [split, frontier, tiles, question, ...others] = this.panels.map((panel) => panel.node);
    const reset = h("button", { type: "button", text: "Reset" });
    reset.addEventListener("click", () => this.reset());
    this.copy = h("button", { type: "button", text: "Copy link to this view", hidden: true });
    this.copy.addEventListener("click", () => this.address.copy(this.copy));
    root.replaceChildren(...[
      h("div", { class: "ax-top" }, h("div", {}, this.heading, this.chosen),
        (this.settings.length > 1 || this.file) && h("label", { for: this.choice.id }, "Setting ", this.choice),
        ...(this.file ? this.file.nodes : [])),
      this.file && this.file.reading,
      this.file && this.file.trouble,
      this.controls.node,
      h("div", { class: "ax-says" }, this.controls.meaning, this.stories.node, this.controls.pin, this.controls.compared, this.stories.text),
      h("div", { class: "ax-grid" }, split, frontier, tiles, question),
      this.pays.node,
      h("div", { class: "ax-grid ax-more" }, this.challenge.node, this.controls.asked, ...others),
      h("div", { class: "ax-foot" }, reset, this.copy, this.file && this.file.hint),
      this.note, this.live,
    ].filter(Boolean));
    // What is folded is not drawn until it is opened.
    root.addEventListener("toggle", () => this.again(), true);
    this.choice.addEventListener("change", () => this.changeSetting(Number(this.choice.value)));
  }

  listSettings() {
    this.choice.replaceChildren(...GROUPS.map(([kind, label]) => {
      const group = h("optgroup", { label });
      this.settings.forEach((one, at) => {
        const mark = kind === "simulated" && !/simulated/i.test(one.title) ? " (simulated)" : "";
        if (one.kind === kind) group.append(h("option", { value: at, text: visible(one.title) + mark }));
      });
      return group.firstChild && group;
    }).filter(Boolean));
  }

  useSetting(at) {
    const { settings, state } = this;
    const setting = settings[at];
    state.at = at;
    const table = (this.table = this.tables[at] ??= build(setting));
    this.controls.layout(table);
    if (this.file) this.file.say();
    this.choice.value = at;
    this.heading.textContent = [visible(setting.title), setting.about].filter(Boolean).join(": ");
    this.heading.classList.toggle("ax-hidden", settings.length > 1 && !setting.about); // the list says it already
    const counted = `${plural(table.n, "question")}, ${plural(table.k, "budget")}.`;
    this.chosen.textContent = setting.kind === "simulated" ? `${counted} Simulated, not a real model.` : counted;
    this.note.textContent = setting.estimated === false ? "" : OPTIMISTIC;
    this.note.hidden = !this.note.textContent;
    Object.assign(state, { lam: setting.lam ?? table.range.start, budget: null, selected: table.path.held[0] });
    this.pinned = null;
    this.peek = null;
    this.stories.tell(null);
    this.paint();
  }

  /** One step of a story: its setting, its price and its question. */
  showStory({ at, lam, question }) {
    this.useSetting(at);
    const row = this.table.setting.ids.indexOf(question);
    this.move({ lam, budget: null, ...(row >= 0 && { selected: row }) });
  }

  /** Keep what this price does, to compare others with it; or let go of it. */
  pinOrForget() {
    const had = this.pinned;
    this.pinned = null;
    if (!had) this.pinAt(this.state.lam);
    this.refresh();
    this.address.write();
  }

  pinAt(lam) {
    this.pinned = oracle(this.table, Math.min(lam, this.table.range.high));
  }

  /** Show another question for as long as the mouse is on its tile. */
  peekAt(at) {
    const { held } = this.table.path;
    const peek = held[at] ?? null;
    if (peek === this.peek) return;
    this.peek = peek;
    this.refresh();
  }

  /** Back to where the page began; a file of the reader's own stays in the list. */
  reset() {
    const { lam, budget, selected } = this.host;
    this.useSetting(0);
    this.move({ lam, budget: budget ?? null, selected });
  }

  changeSetting(to) {
    const { settings, state } = this;
    const { lam, budget, at } = state;
    if (this.file) this.file.trouble.hidden = true;
    this.useSetting(to);
    // The same price means the same in another setting, if costs are counted alike.
    this.move(settings[at].unit === settings[to].unit ? { lam, budget } : {});
  }

  /** Show the reader's own file; a second one takes the place of the first. */
  addSetting(setting) {
    const old = this.settings.findIndex((one) => one.opened);
    const at = old < 0 ? this.settings.length : old;
    this.settings[at] = setting;
    this.tables[at] = null;
    this.listSettings();
    this.useSetting(at);
    this.move({});
    this.root.scrollIntoView({ block: "nearest" }); // a file may be dropped where its result is out of sight
  }

  /** Colours and everything that stands still; needed after a new setting, width or theme. */
  paint() {
    const { root, panels, table } = this;
    this.width = 0;
    if (!root.clientWidth) return; // not on the page yet, or hidden: the observer of `watch` calls again
    this.colours = coloursOf(table);
    const [, frontier, tiles] = panels;
    this.width = roomIn(frontier.node);
    this.wide = Math.max(roomIn(tiles.node), this.width); // slides do not show the tiles
    [this.challenge, ...panels].forEach((part) => part.layout(this));
  }

  /** The question in view. */
  get row() {
    return this.peek ?? this.state.selected;
  }

  /** Everything that follows the price. */
  refresh() {
    if (!this.width) return;
    const view = oracle(this.table, this.state.lam);
    const unfolded = this.panels.filter(({ node }) => node.open !== false);
    [...unfolded, this.pays].forEach((part) => part.move(this, view));
    this.root.dataset.lam = view.lam;
    const said = this.controls.move(this, view, this.fit);
    clearTimeout(this.announcing);
    this.announcing = setTimeout(() => (this.live.textContent = said), 500);
  }

  /** The one door for every change: from a slider, a click, the address or Python. */
  move(change, { silent = false } = {}) {
    const { state, table } = this;
    if (change.selected !== undefined) this.peek = null;
    if (change.selected !== undefined) state.selected = clamp(Math.trunc(change.selected) || 0, 0, table.n - 1);
    if (change.budget !== undefined) state.budget = change.budget;
    if (change.lam !== undefined) state.lam = change.lam;
    this.fit = state.budget === null ? null : priceFor(table, state.budget);
    if (this.fit) state.lam = this.fit.lam;
    this.refresh();
    if (silent) return;
    this.address.write();
    this.host.changed?.({ ...state });
  }

  /** Draw everything again. */
  again() {
    this.paint();
    this.refresh();
  }

  /** Draw again when the width or the theme changes. */
  watch() {
    const { root } = this;
    const again = () => this.again();
    let seenWidth = root.clientWidth;
    const resizing = new ResizeObserver(() => {
      if (root.clientWidth === seenWidth) return;
      seenWidth = root.clientWidth;
      again();
    });
    resizing.observe(root);
    const themed = new MutationObserver(again);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class"] });
    themed.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-theme", "class"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", again);
    this.unwatch = () => {
      resizing.disconnect();
      themed.disconnect();
      system.removeEventListener("change", again);
    };
  }

  destroy() {
    clearTimeout(this.announcing);
    this.controls.stop();
    this.pays.stop();
    this.address.stop();
    this.unwatch();
  }
}

/** Up to eight questions whose id, text or gold answer holds the words typed. */
function find({ n, setting }, words) {
  const wanted = words.trim().toLowerCase();
  const hits = [];
  if (!wanted) return hits;
  const { ids, questions, golds } = setting;
  for (let row = 0; row < n && hits.length < 8; row++) {
    const body = questions?.[row] ?? "";
    if (`${ids?.[row] ?? row}\n${body}\n${golds?.[row] ?? ""}`.toLowerCase().includes(wanted)) hits.push({ row, id: nameOf(setting, row), body });
  }
  return hits;
}
