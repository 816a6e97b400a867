// Guess the curve (games.guess): drag each point up or down, by mouse, finger or arrow keys, then compare.

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [640, 324, 68, 16, 68]; // room for the larger letters of a phone

function render({ model, el }) {
  const { budgets, truth, known, start, ends: [low, high], words } = model.get("data");
  const values = truth.map((value, at) => (at < known ? value : (start[at] ?? truth[known - 1])));
  const x = (at) => LEFT + 24 + (at * (WIDTH - LEFT - 60)) / (budgets.length - 1);
  const grain = (high - low) / 100;
  const digits = (value) => value.toFixed(grain < 0.01 ? 3 : 2);
  const y = (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const points = (heights) => heights.map((value, at) => `${x(at)},${y(value)}`).join(" ");

  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `Your guess: accuracy of ${words.who}` });
  for (const value of [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low))) {
    svg.append(shape("line", { x1: LEFT, x2: WIDTH - 12, y1: y(value), y2: y(value), class: "guess-grid" }));
    svg.append(shape("text", { x: LEFT - 8, y: y(value) + 5, "text-anchor": "end" }, value.toFixed(2)));
  }
  budgets.forEach((b, at) => svg.append(shape("text", { x: x(at), y: HEIGHT - 40, "text-anchor": "middle" }, String(b))));
  svg.append(shape("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 10, "text-anchor": "middle" }, words.axis));
  const real = shape("polyline", { class: "guess-truth", points: "" });
  const line = shape("polyline", { class: "guess-line" });
  svg.append(real, line);
  // Above the reader's own line, which begins on it.
  if (start.length) svg.append(shape("polyline", { points: points(start), class: "guess-start" }));

  const said = status("p", "stop-board", `Drag the points to where you expect ${words.who}.`);
  let open = true;

  const handles = budgets.map((b, at) => {
    const handle = shape("circle", { cx: x(at), r: at < known ? 7 : 13, class: at < known ? "guess-known" : "guess-handle" });
    svg.append(handle);
    if (at < known) return handle;
    attribute(handle, { tabindex: 0, role: "slider", "aria-label": `accuracy of ${words.who} with ${b} ${words.unit}`, "aria-valuemin": low, "aria-valuemax": high });
    handle.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 0.02, ArrowRight: 0.02, ArrowDown: -0.02, ArrowLeft: -0.02, PageUp: 0.1, PageDown: -0.1 }[event.key];
      if (!step || !open) return;
      event.preventDefault();
      put(at, values[at] + step * (high - low));
    });
    return handle;
  });

  // A finger is wider than a point: it takes the nearest one.
  const REACH = 44; // in the picture's own units: about 24 pixels on a phone
  const nearest = (across, down) => {
    const at = handles.findIndex((_, each) => each >= known && Math.hypot(across - x(each), down - y(values[each])) < REACH);
    if (!open || at < 0) return null;
    handles[at].focus({ preventScroll: true });
    return at;
  };
  drags(svg, nearest, (at, _, down) => put(at, high - ((down - TOP) / (HEIGHT - TOP - BOTTOM)) * (high - low)));

  function put(at, value) {
    values[at] = Math.min(high, Math.max(low, Math.round(value / grain) * grain));
    draw();
  }

  function draw() {
    line.setAttribute("points", points(values));
    handles.forEach((handle, at) => {
      handle.setAttribute("cy", y(values[at]));
      if (at >= known) handle.setAttribute("aria-valuenow", digits(values[at]));
    });
  }

  const show = button("That is my guess", () => {
    open = false;
    show.disabled = true;
    real.setAttribute("points", points(truth));
    truth.forEach((value, at) => svg.append(shape("circle", { cx: x(at), cy: y(value), r: 5, class: "guess-dot" })));
    const off = truth.map((value, at) => Math.abs(value - values[at])).slice(known);
    const mean = off.reduce((sum, each) => sum + each, 0) / off.length;
    const last = truth.length - 1;
    said.textContent =
      `With ${budgets[last]} ${words.unit} you guessed ${digits(values[last])}; ${words.who} scores ${digits(truth[last])}. ` +
      `On average you were ${digits(mean)} off. The green line is ${words.who}.`;
  });
  el.replaceChildren(svg, element("div", { className: "spend-actions" }, show), said);
  draw();
}
