// A price in the reader's hand (games.tangent and sentence): a number in a sentence that is dragged sideways. One
// question answers with its curve and a line of that slope, all of them with what they buy.

const STEP = 0.001;
const PIXELS = 3; // that move the number by a step
const strong = () => element("strong");

// A number to drag: sideways by mouse or finger, or by the arrow keys.
function scrubber(value, most, moved) {
  const number = element("span", { className: "price-number", tabIndex: 0 });
  const tell = () => {
    number.textContent = `λ = ${value.toFixed(3)}`;
    number.setAttribute("aria-valuenow", value.toFixed(3));
  };
  attribute(number, { role: "slider", "aria-label": "price λ of one answer", "aria-valuemin": 0, "aria-valuemax": most });
  const set = (next, silent) => {
    value = Math.min(most, Math.max(0, Math.round(next / STEP) * STEP));
    tell();
    moved(value, silent);
  };
  let from = null;
  number.addEventListener("pointerdown", (event) => {
    from = [event.clientX, value];
    number.setPointerCapture(event.pointerId);
    number.focus({ preventScroll: true });
  });
  number.addEventListener("pointermove", (event) => from && set(from[1] + (STEP * (event.clientX - from[0])) / PIXELS));
  for (const end of ["pointerup", "pointercancel"]) number.addEventListener(end, () => (from = null));
  number.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -1e6, End: 1e6 }[event.key];
    if (!by) return;
    event.preventDefault();
    set(value + by * STEP);
  });
  tell();
  return { number, set };
}

// --- one question: the curve, and the line of slope λ that rests on it -------------------------------------------------

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [640, 390, 86, 40, 66];

function tangent(root, { budgets, curve, start, most }) {
  const reach = budgets.at(-1) + 1;
  const x = (cost) => LEFT + (cost / reach) * (WIDTH - LEFT - 12);
  const y = (value) => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Accuracy of one question against its budget, and a line with the slope of the price" });
  const write = (across, down, text, place) => svg.append(shape("text", { x: across, y: down, "text-anchor": place }, text));
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(shape("line", { x1: LEFT, x2: WIDTH - 12, y1: y(value), y2: y(value), class: "guess-grid" }));
    write(LEFT - 14, y(value) + 5, value.toFixed(2), "end");
  }
  budgets.forEach((b) => write(x(b), HEIGHT - 38, String(b), "middle"));
  write((LEFT + WIDTH) / 2, HEIGHT - 8, "answers bought", "middle");
  write(LEFT, 22, "accuracy of the vote", "start");
  svg.append(shape("polyline", { class: "price-curve", points: budgets.map((b, at) => `${x(b)},${y(curve[at])}`).join(" ") }));
  budgets.forEach((b, at) => svg.append(shape("circle", { cx: x(b), cy: y(curve[at]), r: 5, class: "price-dot" })));
  const line = svg.appendChild(shape("line", { class: "price-line" }));
  const won = svg.appendChild(shape("circle", { r: 10, class: "price-won" }));
  const handle = svg.appendChild(shape("circle", { cx: x(0), r: 12, class: "price-handle" }));

  const [buys, right, times, pays, left] = [strong(), strong(), element("span", { className: "price-times" }), strong(), strong()];
  const net = (lam) => Math.max(...curve.map((value, at) => value - lam * budgets[at]));
  const price = scrubber(start, most, draw);

  function draw(lam, silent) {
    const values = curve.map((value, at) => value - lam * budgets[at]);
    const best = values.indexOf(Math.max(...values));
    const top = lam > 0 ? Math.min(reach, (1.04 - values[best]) / lam) : reach; // where the line leaves the picture
    attribute(line, { x1: x(0), y1: y(values[best]), x2: x(top), y2: y(values[best] + lam * top) });
    attribute(won, { cx: x(budgets[best]), cy: y(curve[best]) });
    attribute(handle, { cy: y(values[best]) });
    buys.textContent = `${budgets[best]} answer${budgets[best] === 1 ? "" : "s"}`;
    right.textContent = curve[best].toFixed(2);
    times.textContent = `${budgets[best]} × ${lam.toFixed(3)}`;
    pays.textContent = (budgets[best] * lam).toFixed(2);
    left.textContent = values[best].toFixed(2);
    if (!silent) keep(lam.toFixed(3));
  }

  // The handle is at cost 0, where the line is as high as the net value: a higher price pulls it down.
  const near = (across, down) => (Math.hypot(across - x(0), down - Number(handle.getAttribute("cy"))) < 44 ? handle : null);
  drags(svg, near, (_, across, down) => {
    const wanted = 1 - (down - TOP) / (HEIGHT - TOP - BOTTOM);
    let lam = 0;
    while (lam < most && net(lam) > wanted) lam += STEP;
    price.set(lam);
  });

  const sentence = element("p", { className: "price-sentence" }, "At ", price.number, " per answer the question buys ", buys, ". The vote is right with chance ", right, ". It costs ", times, " = ", pays, ", which leaves ", left, ".");
  root.replaceChildren(sentence, svg);
  price.set(start, true);
  const keep = kept(root, "slope", (text) => Number.isFinite(Number(text)) && price.set(Number(text), true));
}

// --- all questions: what they buy on average, and how often they are right ---------------------------------------------

function everybody(root, { n, name, budgets, colours, start, most, bought, cost, accuracy, mix }) {
  const [spent, right, mixed] = [strong(), strong(), strong()];
  const strip = element("div", { className: "price-strip", ariaHidden: true });
  const parts = budgets.map((b, at) => {
    const part = strip.appendChild(element("span"));
    part.style.background = colours[at];
    return part;
  });
  const told = element("p", { className: "price-told" });
  const price = scrubber(start, most, draw);

  function draw(lam, silent) {
    const at = Math.round(lam / STEP);
    spent.textContent = cost[at].toFixed(2);
    right.textContent = `${(100 * accuracy[at]).toFixed(1)}%`;
    mixed.textContent = `${(100 * mix[at]).toFixed(1)}%`;
    bought[at].forEach((count, column) => {
      parts[column].style.width = `${(100 * count) / n}%`;
      parts[column].textContent = count > 0.06 * n ? budgets[column] : "";
    });
    told.textContent = bought[at].map((count, column) => `${count} buy ${budgets[column]}`).join(", ") + ".";
    if (!silent) keep(lam.toFixed(3));
  }

  const sentence = element("p", { className: "price-sentence" }, "At ", price.number, ` per answer, the ${n} questions of ${name} buy `, spent, " answers on average, and ", right, " of the votes are right. A mix that costs as much gets ", mixed, ".");
  root.replaceChildren(sentence, strip, told);
  price.set(start, true);
  const keep = kept(root, "price", (text) => Number.isFinite(Number(text)) && price.set(Number(text), true));
}

function render({ model, el }) {
  const data = model.get("data");
  (data.curve ? tangent : everybody)(el, data);
}
