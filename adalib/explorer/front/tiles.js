// The map of tiles: one square a question, coloured by the budget that it gets.

class Tiles {
  constructor(act) {
    this.map = h("canvas", { class: "ax-map", role: "img" });
    this.ring = h("div", { class: "ax-ring", "aria-hidden": "true" });
    this.title = h("p", { class: "ax-sub" });
    this.nodes = [this.title, h("div", { class: "ax-mapbox" }, this.map, this.ring)];
    this.map.addEventListener("pointerdown", (event) => {
      const { cell, columns } = this;
      const rect = this.map.getBoundingClientRect();
      const column = Math.min(columns - 1, Math.floor((event.clientX - rect.left) / cell));
      act.pickAt(Math.floor((event.clientY - rect.top) / cell) * columns + column);
    });
  }

  layout({ table, width }) {
    const { n, path } = table;
    const { map } = this;
    const cell = clamp(Math.floor(Math.sqrt((width * 200) / n)), 2, 22);
    const columns = Math.max(1, Math.floor(width / cell));
    // One pixel a question, scaled up by the style sheet; the lines between the squares are laid over it.
    map.width = columns;
    map.height = Math.ceil(n / columns);
    const size = `width:${columns * cell}px;height:${map.height * cell}px`;
    set(map.parentNode, { style: `${size};--ax-cell:${cell}px;--ax-gap:${cell > 4 ? 1 : 0}px` });
    const image = new ImageData(map.width, map.height);
    const position = new Uint32Array(n);
    path.held.forEach((row, at) => (position[row] = at));
    Object.assign(this, { cell, columns, image, position, pixels: new Uint32Array(image.data.buffer) });
    this.title.textContent = `Each square is one of the ${plural(n, "question")}, those that hold on longest first. Click one.`;
  }

  move({ table, state, colours }, view, text) {
    const { map, ring, pixels, cell, columns } = this;
    for (let at = 0; at < table.n; at++) pixels[at] = colours[view.labels[table.path.held[at]]].pixel;
    map.getContext("2d").putImageData(this.image, 0, 0);
    const at = this.position[state.selected];
    const place = `left:${(at % columns) * cell - 2}px;top:${Math.floor(at / columns) * cell - 2}px`;
    set(ring, { style: `${place};width:${cell + 3}px;height:${cell + 3}px` });
    map.setAttribute("aria-label", `One square for each question, coloured by its budget. ${text}`);
  }
}
