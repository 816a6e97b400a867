// Hold the budget (games.hold): a stream of questions that turns hard, and a price that follows.

let WIDTH = 640; // of the pictures, in pixels: less on a phone, where letters would shrink with them
const HEIGHT = 200;
const LEFT = 58;
const FOOT = 22;
const TOP = 8;
const STEPS = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];
const MEMORY = 20; // as in adalib.serve.budget

// The stream, question by question: what games.hold_run does with a BudgetController. Without a step the price
// stands still, where two rules are equally good, and a coin chooses.
function run(data, shift, share, step) {
  const [lower, higher, chance] = data.mix;
  const prices = [];
  const averages = [];
  let debt = 0;
  let spent = 0;
  data.mixed.forEach((mixed, moment) => {
    const row = moment >= shift && data.coin[moment] < share ? data.hard[moment] : mixed;
    const price = Math.exp(Math.min(Math.log(data.price) + (step * debt) / data.budget, 600));
    let best = 0;
    data.costs.forEach((cost, number) => {
      if (data.accuracies[number] - price * cost > data.accuracies[best] - price * data.costs[best]) best = number;
    });
    if (!step) best = data.toss[moment] < chance ? higher : lower;
    const cost = data.stops[row][best];
    debt = Math.max(debt + cost - data.budget, -MEMORY * data.budget);
    spent += cost;
    prices.push(Math.exp(Math.min(Math.log(data.price) + (step * debt) / data.budget, 600)));
    averages.push(spent / (moment + 1));
  });
  return { prices, averages };
}

function chart(title, low, high, scale, ticks, written) {
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const y = (value) => TOP + (HEIGHT - TOP - FOOT) * (1 - (scale(value) - scale(low)) / (scale(high) - scale(low)));
  const inside = (value) => y(Math.min(Math.max(value, low), high));
  ticks.forEach((tick) => {
    svg.append(shape("line", { class: "hold-grid", x1: LEFT, x2: WIDTH, y1: y(tick), y2: y(tick) }));
    svg.append(shape("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, written(tick)));
  });
  svg.append(shape("text", { x: LEFT, y: HEIGHT - 6 }, "question 1"));
  svg.append(shape("text", { x: WIDTH, y: HEIGHT - 6, "text-anchor": "end" }, "1,000"));
  return { box: element("div", { className: "hold-chart" }, element("p", {}, title), svg), svg, inside };
}

const across = (moment, all) => LEFT + ((WIDTH - LEFT) * moment) / all;

function line(values, inside, name) {
  const points = values.map((value, moment) => `${across(moment + 1, values.length).toFixed(1)},${inside(value).toFixed(1)}`);
  return shape("polyline", { class: name, points: points.join(" ") });
}

// What each of two lines is, at its end: above the higher one, and below the other.
function names(values, inside) {
  const ends = Object.entries(values).map(([name, path]) => [name, inside(path.at(-1))]);
  ends.sort((one, other) => one[1] - other[1]);
  return ends.map(([name, y], at) => shape("text", { x: WIDTH - 4, y: at ? y + 20 : y - 22, "text-anchor": "end" }, name));
}

function render({ model, el }) {
  const data = model.get("data");
  WIDTH = Math.max(300, Math.min(WIDTH, el.clientWidth || WIDTH));
  const all = data.mixed.length;
  const said = status("p", "stop-board");
  const average = chart("Running average cost; dashed: the budget, with 2% shaded on either side", 0.7 * data.budget, 1.6 * data.budget, (x) => x,
    [0.8, 1, 1.2, 1.4, 1.6].map((part) => part * data.budget), (tick) => String(+tick.toFixed(1)));
  const price = chart("The price λ, on a logarithmic scale", data.price / 8, data.price * 32, Math.log,
    [1 / 8, 1, 8, 32].map((part) => part * data.price), (tick) => tick.toPrecision(2));
  const budget = data.budget;
  average.svg.append(shape("rect", { class: "hold-band", x: LEFT, width: WIDTH - LEFT, y: average.inside(1.02 * budget),
    height: average.inside(0.98 * budget) - average.inside(1.02 * budget) }));
  average.svg.append(shape("line", { class: "hold-goal", x1: LEFT, x2: WIDTH, y1: average.inside(budget), y2: average.inside(budget) }));
  const marks = [average, price].map(({ svg }) => svg.appendChild(shape("line", { class: "hold-shift", y1: TOP, y2: HEIGHT - FOOT })));
  const layers = [average, price].map(({ svg }) => svg.appendChild(shape("g", {})));

  function slider(label, most, value, told, width) {
    const input = element("input", { type: "range", min: 0, max: most, step: width, value });
    const shown = element("output");
    const tell = () => (shown.textContent = input.ariaValueText = told(Number(input.value)));
    input.addEventListener("input", () => {
      tell();
      draw();
    });
    tell();
    return { input, tell, row: element("label", {}, `${label} `, input, " ", shown) };
  }

  const shift = slider("the mix shifts after", all, all / 2, (value) => `${value} questions`, 10);
  const share = slider("hard questions from then on", 100, 100, (value) => `${value}%`, 5);
  const step = slider("step η", STEPS.length - 1, STEPS.indexOf(data.step), (value) => String(STEPS[value]), 1);

  function draw() {
    const at = Number(shift.input.value);
    const held = run(data, at, Number(share.input.value) / 100, STEPS[Number(step.input.value)]);
    const still = run(data, at, Number(share.input.value) / 100, 0);
    const both = (key, inside) => [
      line(still[key], inside, "hold-still"),
      line(held[key], inside, "hold-line"),
      ...names({ "fixed price": still[key], "moving price": held[key] }, inside),
    ];
    layers[0].replaceChildren(...both("averages", average.inside));
    layers[1].replaceChildren(...both("prices", price.inside));
    marks.forEach((mark) => ["x1", "x2"].forEach((end) => mark.setAttribute(end, across(at, all))));
    const off = (path) => 100 * (path.averages[all - 1] / budget - 1);
    const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}%`;
    const last = held.averages[all - 1];
    said.textContent =
      `After ${all.toLocaleString("en")} questions: average ${last.toFixed(2)} for a budget of ${budget}, off by ${signed(off(held))}; ` +
      `the price moved by a factor of ${(held.prices[all - 1] / data.price).toFixed(2)}. At a fixed price: ${signed(off(still))}.`;
    average.svg.setAttribute("aria-label", said.textContent);
    price.svg.setAttribute("aria-label", `The price ended at ${held.prices[all - 1].toPrecision(3)}; it began at ${data.price.toPrecision(3)}.`);
  }

  // The shift can be dragged in the picture too.
  [average, price].forEach(({ svg }) => {
    const follow = (event) => {
      const box = svg.getBoundingClientRect();
      const place = ((event.clientX - box.left) / box.width) * WIDTH;
      shift.input.value = Math.round((all * Math.min(Math.max(place - LEFT, 0), WIDTH - LEFT)) / (WIDTH - LEFT));
      shift.tell();
      draw();
    };
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      follow(event);
    });
    svg.addEventListener("pointermove", (event) => event.buttons && follow(event));
  });
  el.replaceChildren(element("div", { className: "hold-controls" }, shift.row, share.row, step.row), average.box, price.box, said);
  draw();
}
