// Slopes, sorted (games.lineup). Above, the envelopes of a few questions; below, their edges side by side, the
// steepest first. On the way an edge keeps its width, the answers it costs, and its height becomes its slope.

const [WIDTH, TALL, GAP, BASE, FLOOR] = [760, 110, 8, 156, 430];
const SECONDS = 2.5;

function render({ model, el }) {
  const { names, edges, first, cost } = model.get("data");
  const n = names.length;
  const span = cost[cost.length - 1] - cost[0];
  const scale = (WIDTH - 60 - GAP * (n - 1)) / (n * span); // pixels an answer, the same above and below
  const slope = ([, c0, a0, c1, a1]) => (a1 - a0) / (c1 - c0);
  const steepest = slope(edges[0]);
  const up = (value) => FLOOR - (value / steepest) * (FLOOR - BASE - 64);

  let spent = 0;
  const steps = edges.map((edge) => {
    const [question, c0, a0, c1, a1] = edge;
    const left = 44 + question * (span * scale + GAP);
    const home = [left + (c0 - cost[0]) * scale, BASE - a0 * TALL, left + (c1 - cost[0]) * scale, BASE - a1 * TALL];
    const start = spent;
    spent += c1 - c0;
    const plank = [44 + start * scale, up(slope(edge)), 44 + spent * scale, up(slope(edge))];
    return { home, plank, start, end: spent, rise: a1 - a0, slope: slope(edge) };
  });
  const right = 44 + spent * scale;

  const told = `The edges of ${n} envelopes, sorted by slope, form a staircase that falls from ${steepest.toFixed(3)}.`;
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${FLOOR + 46}`, role: "img", "aria-label": told });
  const text = (x, y, words, anchor = "start") => svg.append(shape("text", { x, y, "text-anchor": anchor }, words));
  text(0, 24, "accuracy of each question, by answers");
  text(0, BASE + 44, "slope: accuracy per answer");
  text(right, FLOOR + 28, "answers spent →", "end");
  svg.append(shape("line", { x1: 44, x2: right, y1: FLOOR, y2: FLOOR, class: "guess-grid" }));
  const filled = steps.map(() => svg.appendChild(shape("rect", { class: "lineup-filled", y: FLOOR, height: 0, width: 0 })));
  first.forEach((value, question) =>
    svg.append(shape("circle", { cx: 44 + question * (span * scale + GAP), cy: BASE - value * TALL, r: 4, class: "lineup-dot" })),
  );
  // Where an edge comes from, and the place where it will lie.
  steps.forEach(({ home: [x1, y1, x2, y2], plank: [left, up, to] }) => {
    svg.append(shape("line", { x1, y1, x2, y2, class: "lineup-ghost" }));
    svg.insertBefore(shape("rect", { x: left, y: up, width: to - left, height: FLOOR - up, class: "lineup-place" }), filled[0]);
  });
  const lines = steps.map(() => svg.appendChild(shape("line", { class: "lineup-edge" })));
  const border = svg.appendChild(shape("line", { y1: BASE + 56, y2: FLOOR, class: "lineup-border" }));

  const budget = slider("average budget B", { min: cost[0], max: cost[0] + spent / n, step: 0.05, value: 2 }, () => {
    progress = 1; // money falls on sorted steps only
    draw();
  });
  const said = status("p", "stop-board");
  let progress = 0;

  function draw() {
    const room = (Number(budget.input.value) - cost[0]) * n;
    const there = progress === 1;
    steps.forEach(({ home, plank, start, end }, at) => {
      const now = home.map((from, i) => from + (plank[i] - from) * progress);
      ["x1", "y1", "x2", "y2"].forEach((name, i) => lines[at].setAttribute(name, now[i]));
      const bought = Math.max(0, Math.min(end, room) - start);
      lines[at].classList.toggle("lineup-bought", there && bought > 0);
      attribute(filled[at], { x: plank[0], y: plank[1], width: there ? bought * scale : 0, height: FLOOR - plank[1] });
    });
    const x = 44 + Math.min(room, spent) * scale;
    attribute(border, { x1: x, x2: x });
    border.style.visibility = there ? "visible" : "hidden";
    tell(room);
  }

  function tell(room) {
    budget.tell(`B = ${Number(budget.input.value).toFixed(2)}`);
    const share = ({ start, end }) => Math.max(0, Math.min(1, (room - start) / (end - start)));
    const gained = steps.reduce((sum, step) => sum + share(step) * step.rise, 0) / n;
    const mean = first.reduce((sum, value) => sum + value, 0) / n;
    const next = steps.find((step) => share(step) < 1);
    said.textContent =
      progress < 1
        ? `${n} real questions, ${steps.length} edges. Line them up, then pour the budget in.`
        : `The price is ${(next ? next.slope : 0).toFixed(4)}, the slope of the step at the border. ` +
          `Accuracy ${mean.toFixed(3)} + ${gained.toFixed(3)} = ${(mean + gained).toFixed(3)} over these ${n} questions.`;
  }

  function go(to) {
    if (still()) {
      progress = to;
      draw();
      return;
    }
    const [from, began] = [progress, performance.now()];
    requestAnimationFrame(function frame(now) {
      const time = Math.min(1, (now - began) / (1000 * SECONDS));
      progress = from + (to - from) * (time * time * (3 - 2 * time)); // slow, fast, slow
      draw();
      if (time < 1) requestAnimationFrame(frame);
    });
  }

  el.replaceChildren(
    svg,
    element("div", { className: "spend-actions" }, button("Line them up", () => go(1)), button("Back to their questions", () => go(0))),
    budget.box,
    said,
  );
  draw();
}
