// The market game (games.market): prints the cards, adds up what the class shows, finds the clearing price.
// Prices are in points of accuracy per answer. Nothing is sent anywhere.

const CLOSE = 1e-9; // net values nearer than this are tied, and a tie goes to the cheaper budget

// --- the market ------------------------------------------------------------------------------------------------------

function buys(points, budgets, price) {
  let best = 0;
  for (let k = 1; k < budgets.length; k += 1) {
    if (points[k] - price * budgets[k] > points[best] - price * budgets[best] + CLOSE) best = k;
  }
  return budgets[best];
}

const bill = (cards, budgets, price) => cards.reduce((sum, { points }) => sum + buys(points, budgets, price), 0);

// The prices at which somebody may change their mind.
function turns(cards, budgets) {
  const found = new Set([0]);
  for (const { points } of cards) {
    for (let j = 0; j < budgets.length; j += 1) {
      for (let k = j + 1; k < budgets.length; k += 1) {
        if (points[k] > points[j]) found.add((points[k] - points[j]) / (budgets[k] - budgets[j]));
      }
    }
  }
  return [...found].sort((a, b) => a - b);
}

const clearing = (cards, budgets, money) => turns(cards, budgets).find((price) => bill(cards, budgets, price) <= money);

// --- elements --------------------------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...inside) {
  const svg = ["svg", "path", "line", "circle", "text", "polyline"].includes(tag);
  return svg ? shape(tag, attributes, ...inside) : attribute(document.createElement(tag), attributes, ...inside);
}

const number = (label, value, low, high) => {
  const input = make("input", { type: "number", min: low, max: high, value, inputmode: "numeric" });
  return [make("label", {}, `${label} `, input), input];
};
const press = (text, act) => {
  const button = make("button", { type: "button" }, text);
  button.addEventListener("click", act);
  return button;
};
const short = (value) => String(Math.round(value * 100) / 100);
const priced = (value) => `${short(value)} ${short(value) === "1" ? "point" : "points"} per answer`;

function curve({ points }, budgets) {
  const x = (k) => 20 + k * 45;
  const y = (value) => 100 - value * 0.9;
  const svg = make("svg", { viewBox: "0 0 220 122", role: "img", "aria-label": `Right with ${budgets.map((b, k) => `${b}: ${points[k]}`).join(", ")} in a hundred` });
  svg.append(make("line", { x1: 10, y1: 100, x2: 210, y2: 100, class: "market-axis" }));
  svg.append(make("polyline", { points: points.map((v, k) => `${x(k)},${y(v)}`).join(" "), class: "market-curve" }));
  points.forEach((v, k) => svg.append(make("circle", { cx: x(k), cy: y(v), r: 4 }), make("text", { x: x(k), y: 117 }, String(budgets[k]))));
  return svg;
}

function card(each, budgets, name) {
  const row = (head, values) => make("tr", {}, make("th", { scope: "row" }, head), ...values.map((v) => make("td", {}, String(v))));
  const table = make("table", {}, row("answers", budgets), row("points", each.points), row("− price × answers", budgets.map(() => " ")), row("= left", budgets.map(() => " ")));
  return make(
    "section",
    { class: "market-card" },
    make("h3", {}, name),
    make("p", { class: "market-question" }, each.question),
    curve(each, budgets),
    table,
    make("p", {}, "Subtract the price times the answers from the points. Show the budget that leaves the most; if two tie, the smaller."),
  );
}

// --- the staircase ---------------------------------------------------------------------------------------------------

function staircase(cards, budgets, money, rounds, price) {
  const prices = turns(cards, budgets);
  const right = Math.max(6, prices[prices.length - 1] * 1.05);
  const top = Math.max(bill(cards, budgets, 0), money) * 1.08;
  const x = (p) => 46 + (p / right) * 540;
  const y = (b) => 230 - (b / top) * 210;
  const svg = make("svg", { viewBox: "0 0 600 270", role: "img", "aria-label": `The cost against the price; there are ${money} answers to spend` });
  let path = `M${x(0)} ${y(bill(cards, budgets, 0))}`;
  for (const p of prices.slice(1)) path += `H${x(p)}V${y(bill(cards, budgets, p))}`;
  svg.append(
    make("line", { x1: 46, y1: 230, x2: 590, y2: 230, class: "market-axis" }),
    make("line", { x1: 46, y1: 15, x2: 46, y2: 230, class: "market-axis" }),
    make("line", { x1: 46, y1: y(money), x2: 590, y2: y(money), class: "market-money" }),
    make("text", { x: 586, y: y(money) - 6, class: "market-end" }, `money: ${money}`),
    make("text", { x: 318, y: 264 }, "price, points per answer"),
    make("text", { x: 50, y: 12, class: "market-start" }, "cost, answers"),
  );
  for (const b of [0, bill(cards, budgets, 0)]) svg.append(make("text", { x: 40, y: y(b) + 4, class: "market-end" }, String(b)));
  for (let p = 0; p <= right; p += 2) svg.append(make("text", { x: x(p), y: 247 }, String(p)));
  if (rounds === null) svg.append(make("path", { d: `${path}H${x(right)}`, class: "market-stairs" }));
  else rounds.forEach((round) => svg.append(make("circle", { cx: x(round.price), cy: y(round.bill), r: 5, class: "market-round" })));
  if (price !== null) svg.append(make("line", { x1: x(price), y1: 15, x2: x(price), y2: 230, class: "market-price" }));
  return svg;
}

// --- the page --------------------------------------------------------------------------------------------------------

const MOST = 500; // students; a class of more than there are cards starts the pack again
const dealt = (game, number) => game.cards[(number - 1) % game.cards.length];

// The card that the end of the address asks for, as in #card=17, or null.
function asked() {
  const found = /^#card=(\d{1,3})$/.exec(window.location.hash);
  const number = found ? Number(found[1]) : 0;
  return number >= 1 && number <= MOST ? number : null;
}

function classroom(game, sheet) {
  const { budgets } = game;
  const box = make("div");
  const [sizeLabel, size] = number("students", 20, 4, MOST);
  const [moneyLabel, money] = number("answers for each, on average", 3, 1, 16);
  const [priceLabel, price] = number("price, points per answer", 5, 0, 20);
  for (const input of [money, price]) input.step = "any";
  const hands = budgets.map((b) => number(`show ${b}:`, 0, 0, MOST));
  const said = make("p", { role: "status", class: "market-said" });
  const drawing = make("div");
  const pack = make("div", { class: "market-pack" });
  let rounds = [];

  // What the class plays with, unless a number is out of its range: then that is said, and nothing else happens.
  const inPlay = () => Array.from({ length: Number(size.value) }, (_, at) => dealt(game, at + 1));
  const purse = () => inPlay().length * Number(money.value);
  const ifAllFit = (act) => () => {
    const wrong = [size, money, price, ...hands.map(([, input]) => input)].find((input) => !input.value || !input.checkValidity());
    said.textContent = wrong ? `“${wrong.parentNode.textContent.trim()}” is ${wrong.value || "empty"}: give a number from ${wrong.min} to ${wrong.max}.` : "";
    if (!wrong) act();
  };
  const clear = () => {
    rounds = [];
    drawing.replaceChildren();
    pack.replaceChildren(...inPlay().map((each, at) => card(each, budgets, `Card ${at + 1}`)));
  };
  const add = () => {
    const shown = hands.reduce((sum, [, input]) => sum + Number(input.value), 0);
    const total = hands.reduce((sum, [, input], k) => sum + Number(input.value) * budgets[k], 0);
    rounds.push({ price: Number(price.value), bill: total });
    const over = total - purse();
    const verdict = over > 0 ? `${over} more than there are. Raise the price.` : over < 0 ? `${-over} are left. Lower the price, or stop here.` : "Every answer is spent: the market clears.";
    const missing = shown === inPlay().length ? "" : ` (${shown} hands for ${inPlay().length} students)`;
    said.textContent = `At ${priced(price.value)} the class buys ${total} of ${purse()} answers: ${verdict}${missing}`;
    drawing.replaceChildren(staircase(inPlay(), budgets, purse(), rounds, null));
  };
  const count = () => {
    const bought = inPlay().map(({ points }) => buys(points, budgets, Number(price.value)));
    hands.forEach(([, input], k) => (input.value = bought.filter((b) => b === budgets[k]).length));
    add();
  };
  const find = () => {
    const at = clearing(inPlay(), budgets, purse());
    const total = bill(inPlay(), budgets, at);
    said.textContent = `The market clears at ${priced(at)}: at this price the cost, ${total}, fits within ${purse()}. ${total < purse() ? `${purse() - total} are left: just below it the class would buy more than there are.` : ""}`;
    drawing.replaceChildren(staircase(inPlay(), budgets, purse(), null, at));
  };
  for (const input of [size, money]) input.addEventListener("change", ifAllFit(clear));
  box.append(
    make("p", {}, sizeLabel, " ", moneyLabel, " ", press("Print the cards", ifAllFit(() => print(sheet, inPlay().map((each, at) => card(each, budgets, `Card ${at + 1}`)))))),
    make("p", {}, "Without a printer, send everyone the address of this page with ", make("code", {}, "#card=1"), ", ", make("code", {}, "#card=2"), " and so on at its end. It shows that card alone."),
    make("p", {}, priceLabel),
    make("p", { class: "market-hands" }, ...hands.map(([label]) => label)),
    make("p", {}, press("Add up the hands", ifAllFit(add)), " ", press("Count for me", ifAllFit(count)), " ", press("Find the clearing price", ifAllFit(find)), " ", press("Start again", ifAllFit(clear))),
    said,
    drawing,
    make("details", {}, make("summary", {}, "The cards"), pack),
  );
  clear();
  return box;
}

function twins(game, sheet) {
  const { budgets, twin } = game;
  const pair = [twin, twin];
  const money = twin.low + twin.high;
  const slider = make("input", { type: "range", min: 0, max: 6, step: 0.01, value: 1, "aria-label": "price for the twins, points per answer" });
  const said = make("p", { role: "status", class: "market-said" });
  const drawing = make("div");
  const draw = () => {
    const price = Number(slider.value);
    const total = bill(pair, budgets, price);
    said.textContent = `At ${priced(price)} the twins buy ${total / 2} each, ${total} together. There are ${money}.`;
    drawing.replaceChildren(staircase(pair, budgets, money, null, price));
  };
  slider.addEventListener("input", draw);
  draw();
  const cards = () => ["Twin A", "Twin B"].map((name) => card(twin, budgets, name));
  return make("div", {}, make("p", {}, slider, " ", press("Print the twins", () => print(sheet, cards()))), said, drawing);
}

// Only the cards go to the printer: they hang below the page, and the style sheet hides the rest while we print.
function print(sheet, cards) {
  sheet.replaceChildren(...cards);
  document.body.classList.add("market-printing");
  window.addEventListener("afterprint", () => document.body.classList.remove("market-printing"), { once: true });
  window.print();
}

function render({ model, el }) {
  const game = model.get("data");
  const sheet = make("div", { class: "market-sheet adalib-market" });
  document.body.append(sheet);
  const show = () => {
    const number = asked();
    if (number === null) el.replaceChildren(make("h2", {}, "The class"), classroom(game, sheet), make("h2", {}, "The twins"), twins(game, sheet));
    else el.replaceChildren(card(dealt(game, number), game.budgets, `Card ${number}`), make("p", {}, make("a", { href: "#" }, "Leave the card and show the whole game")));
    if (number !== null) el.scrollIntoView();
  };
  window.addEventListener("hashchange", show);
  show();
}
