// What the drawings share: axes, a marked point, a handle to drag, a framed figure.

/** Axes: light rules, ticks, the vertical label on top where it can be read without turning the head. */
function axes(svg, box, { x, y, xTicks, yTicks, xLabel, yLabel }) {
  const g = s(svg, "g", { class: "ax-axes" });
  for (const { value, text } of yTicks) {
    const at = y(value);
    s(g, "line", { x1: box.left, x2: box.right, y1: at, y2: at });
    s(g, "text", { x: box.left - 6, y: at + 4, "text-anchor": "end" }, text);
  }
  s(g, "line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, class: "ax-base" });
  let taken = -Infinity;
  for (const { value, text } of xTicks) {
    const at = x(value);
    s(g, "line", { x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4, class: "ax-base" });
    if (at - taken < text.length * 3.6 + 14) continue;
    s(g, "text", { x: at, y: box.bottom + 16, "text-anchor": "middle" }, text);
    taken = at + text.length * 3.6;
  }
  s(g, "text", { x: box.right, y: box.bottom + 32, "text-anchor": "end", class: "ax-label" }, xLabel);
  s(g, "text", { x: 0, y: 11, class: "ax-label" }, yLabel);
}

/** A point that moves, with its guide lines and a label on the side where the curve leaves room. */
function marker(svg) {
  const guide = s(svg, "path", { class: "ax-guide" });
  const dot = s(svg, "circle", { r: 6, class: "ax-now" });
  const text = s(svg, "text", { class: "ax-nowtext" });
  return (box, px, py, label, path, side) => {
    set(guide, { d: path });
    set(dot, { cx: px, cy: py });
    text.textContent = label;
    const room = label.length * 7.2;
    const right = side === "right" ? px + 10 + room < box.right : px - 10 - room < 0;
    set(text, { x: px + (right ? 10 : -10), y: clamp(py - 10, box.top + 4, box.bottom - 6), "text-anchor": right ? "start" : "end" });
  };
}

/** Path points as seen on screen: of the points that share half a pixel, the last. */
function onScreen(prices, x) {
  const columns = [];
  prices.forEach((price, at) => {
    const px = Math.round(x(price) * 2) / 2;
    if (columns.length && columns[columns.length - 1].px === px) columns[columns.length - 1].at = at;
    else columns.push({ px, at });
  });
  return columns;
}

/**
 * Call `use` while a pointer drags over a node. A finger first has to show what it wants: up or down scrolls the page
 * and changes nothing (`undo`), sideways drags, and a tap is a click.
 */
function follow(node, use, undo = () => {}) {
  let from = null; // where a finger came down, until it has shown what it wants
  node.addEventListener("pointerdown", (event) => {
    from = event.pointerType === "touch" ? event : null;
    if (!from && !event.button) use(event);
  });
  node.addEventListener("pointermove", (event) => {
    const across = from && Math.abs(event.clientX - from.clientX);
    if (from && across < Math.max(8, Math.abs(event.clientY - from.clientY))) return;
    from = null;
    if (event.buttons & 1) use(event);
  });
  node.addEventListener("pointerup", (event) => {
    const tapped = from && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < 8;
    if (tapped) use(event);
    else if (from) undo();
    from = null;
  });
  node.addEventListener("pointercancel", () => {
    if (from) undo();
    from = null;
  });
  return () => from !== null;
}

function draggable(svg, onMove) {
  svg.addEventListener("pointerdown", (event) => svg.setPointerCapture(event.pointerId));
  follow(svg, (event) => onMove(event.clientX - svg.getBoundingClientRect().left));
}

/** An empty drawing, which says what it shows in its aria-label. */
function drawing() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("role", "img");
  return svg;
}

function figure(title, hint) {
  const svg = drawing();
  const caption = h("figcaption", {}, h("strong", { text: title }), h("span", { text: hint }));
  return { node: h("figure", { class: "ax-panel" }, caption, svg), svg };
}

/** A panel that the reader opens: its title is what is clicked. */
function folded(title, hint) {
  const svg = drawing();
  const node = h("details", { class: "ax-panel" }, h("summary", { text: title }), h("p", { class: "ax-sub", text: hint }), svg);
  return { node, svg };
}

/** Dots where the question in view changes its budget; `place` turns a point of the path into a place. */
class Turns {
  constructor(svg, place) {
    this.group = s(svg, "g", { class: "ax-turns" });
    this.place = place;
  }

  move(table, row) {
    if (row === this.row) return;
    this.row = row;
    this.group.replaceChildren();
    for (const [price] of rowSteps(table, row)) {
      const [cx, cy] = this.place(pointAt(table.path, price));
      s(this.group, "circle", { r: 4, cx, cy });
    }
  }
}

/** Empty a drawing, give it its size, and return the box that its axes enclose. */
function frame(svg, width, height) {
  svg.replaceChildren();
  set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
  return { left: 46, right: width - 12, top: 26, bottom: height - 38 };
}
