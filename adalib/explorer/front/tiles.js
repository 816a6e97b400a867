// The map of tiles on the first screen: one square per question, coloured by the budget that it gets.

const HEIGHT = 215; // pixels of the map, or a little less

class TilesPanel {
  constructor(act) {
    this.act = act;
    this.map = h("canvas", { class: "ax-map", "aria-hidden": "true" });
    this.ring = h("div", { class: "ax-ring", "aria-hidden": "true" });
    this.box = h("div", { class: "ax-mapbox", tabindex: 0, role: "slider", "aria-label": "Question shown", "aria-valuemin": 1 }, this.map, this.ring);
    this.hint = h("span");
    this.legend = h("p", { class: "ax-legend" });
    const caption = h("figcaption", {}, h("strong", { text: "Who gets how much" }), this.hint);
    this.node = h("figure", { class: "ax-panel ax-card ax-tiles" }, caption, this.legend, this.box);
    this.listen();
  }

  /** The number of the square under a pointer. */
  squareAt({ clientX, clientY }) {
    const { cell, columns } = this;
    const rect = this.map.getBoundingClientRect();
    const column = Math.min(columns - 1, Math.floor((clientX - rect.left) / cell));
    return Math.floor((clientY - rect.top) / cell) * columns + column;
  }

  /** The mouse shows the question below it; a click or a tap keeps it, and so do the arrow keys; a swipe scrolls. */
  listen() {
    const { map, box, act } = this;
    map.addEventListener("click", (event) => act.pickAt(this.squareAt(event)));
    map.addEventListener("pointermove", (event) => event.pointerType === "mouse" && act.peekAt(this.squareAt(event)));
    map.addEventListener("pointerleave", () => act.peekAt(null));
    box.addEventListener("keydown", (event) => {
      const { at, columns, position } = this;
      const last = position.length - 1;
      const to = {
        ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns,
        Home: 0, End: last, PageDown: at + 5 * columns, PageUp: at - 5 * columns,
      }[event.key];
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      act.pickAt(clamp(to, 0, last));
    });
  }

  layout({ table, wide: width, colours }) {
    const { n, path, setting } = table;
    const { map } = this;
    const cell = clamp(Math.floor(Math.sqrt((width * HEIGHT) / n)), 2, 22);
    const columns = Math.max(1, Math.min(n, Math.floor(width / cell)));
    // One pixel per question, scaled up by the style sheet; the lines between the squares are laid over it.
    map.width = columns;
    map.height = Math.ceil(n / columns);
    const size = `width:${columns * cell}px;height:${map.height * cell}px`;
    set(this.box, { style: `${size};--ax-cell:${cell}px;--ax-gap:${cell > 4 ? 1 : 0}px`, "aria-valuemax": n });
    const image = new ImageData(map.width, map.height);
    const position = new Uint32Array(n);
    path.held.forEach((row, at) => (position[row] = at));
    Object.assign(this, { cell, columns, image, position, pixels: new Uint32Array(image.data.buffer) });
    this.hint.textContent = "One square per question; those above keep a larger budget longer. Point at one, or tap it.";
    // A legend of thousands of budgets would be longer than the map; the table below the areas has them all.
    const named = setting.budgets.length > 16 ? [0, setting.budgets.length - 1] : setting.budgets.keys();
    this.legend.replaceChildren("budget ", ...[...named].flatMap((j) => [chip(colours[j].fill), `${clip(visible(setting.budgets[j]), LONGEST)} `]));
  }

  move({ table, state, row, colours }, view) {
    const { map, ring, box, pixels, cell, columns } = this;
    for (let at = 0; at < table.n; at++) pixels[at] = colours[view.labels[table.path.held[at]]].pixel;
    map.getContext("2d").putImageData(this.image, 0, 0);
    this.at = this.position[state.selected];
    const at = this.position[row];
    const place = `left:${(at % columns) * cell - 2}px;top:${Math.floor(at / columns) * cell - 2}px`;
    set(ring, { style: `${place};width:${cell + 3}px;height:${cell + 3}px` });
    const budget = table.setting.budgets[view.labels[state.selected]];
    set(box, { "aria-valuenow": this.at + 1, "aria-valuetext": `question ${nameOf(table.setting, state.selected)}, budget ${visible(budget)}` });
  }
}
