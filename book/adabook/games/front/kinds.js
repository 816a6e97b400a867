// Spend by kind (games.kinds): the reader gives each kind of question a budget, and sees what that costs, what it
// gets right, and what a mix and the oracle get for the same cost.

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 340, 76, 24, 40, 62];
const percent = (share) => `${(100 * share).toFixed(1)}%`;

function render({ model, el }) {
  const { budgets, kinds, costs, mix, oracle } = model.get("data");
  const n = kinds.reduce((sum, kind) => sum + kind.count, 0);
  const chosen = kinds.map(() => 1); // two answers for all, to begin with

  const accuracies = [...mix, ...oracle];
  const low = Math.floor(20 * (Math.min(...accuracies) - 0.02)) / 20;
  const high = Math.ceil(20 * (Math.max(...accuracies) + 0.01)) / 20;
  const x = (cost) => LEFT + ((cost - budgets[0]) / (budgets.at(-1) - budgets[0])) * (WIDTH - LEFT - RIGHT);
  const y = (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Accuracy against cost: the mix, the oracle above it, and you." });
  const write = (across, down, text, place) => svg.append(shape("text", { x: across, y: down, "text-anchor": place }, text));
  for (let step = Math.round(20 * low); step <= Math.round(20 * high); step += 1) {
    svg.append(shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(step / 20), y2: y(step / 20), class: "guess-grid" }));
    if (step % 2 === 0) write(LEFT - 8, y(step / 20) + 5, `${5 * step}%`, "end");
  }
  budgets.forEach((b) => write(x(b), HEIGHT - 36, String(b), "middle"));
  write((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "answers per question, on average", "middle");
  write(LEFT, 22, "questions answered correctly", "start");
  const line = (values, name) => svg.append(shape("polyline", { class: name, points: values.map((value, at) => `${x(costs[at])},${y(value)}`).join(" ") }));
  line(mix, "kinds-mix");
  line(oracle, "kinds-oracle");
  const at = costs.findIndex((cost) => cost >= 5);
  write(x(5) - 10, y(oracle[at]) - 10, "oracle", "end");
  write(x(5) + 10, y(mix[at]) + 26, "mix", "start");
  const you = svg.appendChild(shape("circle", { r: 9, class: "kinds-you" }));

  const between = (values, cost) => {
    const at = Math.max(1, costs.findIndex((each) => each >= cost));
    const share = (cost - costs[at - 1]) / (costs[at] - costs[at - 1]);
    return values[at - 1] + share * (values[at] - values[at - 1]);
  };

  const said = status("p", "stop-board");
  const rows = kinds.map(({ name, count }, kind) => {
    const { box, inputs } = choice(`${name}, ${count} questions`, `kinds-${name}`, budgets, (column) => choose(kind, column));
    const told = element("small", { className: "kinds-told" });
    box.classList.add("kinds-row");
    box.prepend(element("span", {}, name, element("small", {}, ` ${count} questions`)));
    box.append(told);
    return { box, inputs, told };
  });

  function draw() {
    let [cost, right] = [0, 0];
    kinds.forEach(({ count, acc }, kind) => {
      const column = chosen[kind];
      const extra = count * (budgets[column] - budgets[0]);
      const gained = count * (acc[column] - acc[0]);
      cost += count * budgets[column];
      right += count * acc[column];
      rows[kind].inputs[column].checked = true;
      const signed = `${gained < -0.05 ? "−" : "+"}${Math.abs(gained).toFixed(1)}`;
      rows[kind].told.textContent = extra ? `${extra} extra answers, ${signed} right` : "no extra answers";
    });
    [cost, right] = [cost / n, right / n];
    attribute(you, { cx: x(cost), cy: y(right) });
    const ahead = 100 * (right - between(mix, cost));
    const compared = `${ahead < -0.05 ? "−" : "+"}${Math.abs(ahead).toFixed(1)} points compared with the mix`;
    said.textContent =
      `You buy ${cost.toFixed(2)} answers per question and get ${percent(right)} right (${compared}). ` +
      `At this cost the mix gets ${percent(between(mix, cost))} and the oracle ${percent(between(oracle, cost))}.`;
  }

  const keep = kept(el, "kinds", (text) => {
    const columns = text.split(",").map((b) => budgets.indexOf(Number(b)));
    if (columns.length !== kinds.length || columns.includes(-1)) return;
    columns.forEach((column, kind) => (chosen[kind] = column));
    draw();
  });
  function choose(kind, column) {
    (kind === null ? kinds.map((_, each) => each) : [kind]).forEach((each) => (chosen[each] = column));
    draw();
    keep(chosen.map((each) => budgets[each]).join());
  }
  const alike = budgets.map((b, column) => button(`all ${b}`, () => choose(null, column)));
  el.replaceChildren(...rows.map(({ box }) => box), element("div", { className: "spend-actions" }, ...alike), said, svg);
  draw();
}
