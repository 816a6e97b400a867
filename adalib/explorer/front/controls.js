// The two sliders with their exact values, and the five numbers that follow them.

const STEPS = 400; // positions of the price slider; 0 is free
const NUMBERS = { lambda: "price \u03bb", cost: "mean cost", accuracy: "accuracy", mix: "best mix", gain: "gain, points" };

class Controls {
  constructor(act, uid) {
    this.price = slider(`${uid}-lambda`, "lambda", ["Price ", h("var", { text: "\u03bb" })], { min: 0, max: STEPS, step: 1 });
    this.budget = slider(`${uid}-budget`, "budget", ["Budget ", h("var", { text: "B" })], {});
    this.meaning = h("p", { class: "ax-say" });
    this.verdict = h("p", { class: "ax-say" });
    this.says = h("div", { class: "ax-says" }, this.meaning, this.verdict);
    const strip = h("div", { class: "ax-numbers", role: "list" });
    // What is dragged and what it does stay in sight while the page scrolls below.
    this.node = h("div", { class: "ax-bar" }, h("div", { class: "ax-controls" }, this.price.node, this.budget.node), strip);
    this.numbers = {};
    for (const [key, text] of Object.entries(NUMBERS)) {
      this.numbers[key] = h("strong", { "data-number": key });
      strip.append(h("div", { role: "listitem" }, h("span", { class: "ax-key", text }), this.numbers[key]));
    }
    this.listen(act);
  }

  listen(act) {
    const { price, budget } = this;
    slides(price.input, (value) => act.price(this.toPrice(value)), act.again);
    slides(budget.input, (value) => act.budget(Number(value.toFixed(this.range.budgetDigits))), act.again);
    price.box.addEventListener("change", () => {
      const value = typedNumber(price.box);
      const { high } = this.range;
      if (!(value >= 0 && value <= high)) this.refused = `Prices here go from 0 to ${showTick(high)}; above that, every question takes its cheapest budget.`;
      if (value >= 0) act.price(Math.min(value, high));
      else act.again();
    });
    // The box's own arrows would go by whole points.
    price.box.addEventListener("keydown", (event) => {
      const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      act.price(this.toPrice(clamp(this.toPosition(typedNumber(price.box)) + by, 0, STEPS)));
    });
    budget.box.addEventListener("change", () => {
      const value = typedNumber(budget.box);
      if (value >= 0) act.budget(value);
      else act.again();
    });
  }

  // Position 0 of the price slider is free, the rest is logarithmic.
  toPrice(at) {
    const { low, high } = this.range;
    return at <= 0 ? 0 : threeDigits(low * (high / low) ** ((at - 1) / (STEPS - 1)));
  }

  toPosition(value) {
    if (value <= 0) return 0;
    const { low, high } = this.range;
    return clamp(Math.round(1 + ((STEPS - 1) * Math.log(value / low)) / Math.log(high / low)), 1, STEPS);
  }

  /** A new setting: other costs, other ends. */
  layout(table) {
    this.range = table.range;
    const { budgetLow, budgetHigh, step, high } = table.range;
    set(this.price.box, { max: high });
    set(this.budget.input, { min: budgetLow, max: budgetHigh, step });
  }

  /** Everything here that follows the price. Returns the sentence for those who listen. */
  move({ table, state }, view, fit) {
    const { price, budget, range } = this;
    const cost = fixed(view.cost, range.digits);
    const shownPrice = showPrice(view.lam);
    const text = {
      lambda: shownPrice, cost, accuracy: fixed(view.accuracy, 4),
      mix: fixed(view.mix, 4), gain: signed(100 * view.gain, 2),
    };
    for (const key in text) this.numbers[key].textContent = text[key];
    this.numbers.lambda.title = `exactly ${view.lam}`;
    price.input.value = this.toPosition(view.lam);
    price.box.value = Number(view.lam.toPrecision(4));
    budget.input.value = state.budget ?? view.cost;
    budget.box.value = state.budget ?? Number(view.cost.toFixed(range.digits));
    const refused = this.refused ?? "";
    this.refused = null;
    this.meaning.textContent = refused || sayPrice(view.lam, table.per);
    this.meaning.classList.toggle("ax-warn", refused !== "");
    this.verdict.textContent = sayBudget(table, state, view, fit);
    this.verdict.classList.toggle("ax-warn", fit?.fit === "impossible");
    set(price.input, { "aria-valuetext": `price ${shownPrice}, average cost ${cost} ${table.units}` });
    set(budget.input, { "aria-valuetext": `budget ${state.budget ?? cost}, average cost ${cost} ${table.units} at price ${shownPrice}` });
    return `${refused} Price ${shownPrice}: average cost ${cost} ${table.units}, accuracy ${text.accuracy}, ${text.gain} points over the best mix.`.trim();
  }
}

/** The number that a reader typed, NaN if it is none. */
const typedNumber = (box) => (box.value.trim() ? Number(box.value) : NaN);

function slider(id, key, label, range) {
  const input = h("input", { type: "range", id, "data-control": key, ...range });
  const box = h("input", { type: "number", min: 0, step: "any", "data-exact": key });
  box.setAttribute("aria-label", `${key === "lambda" ? "Price lambda" : "Budget B"}, exact value`);
  return { input, box, node: h("div", { class: "ax-control" }, h("label", { for: id }, ...label), input, box) };
}

/** Follow a slider; a finger that only scrolls over it leaves it where it was. */
function slides(input, use, undo) {
  const now = () => use(Number(input.value));
  const undecided = follow(input, (event) => event.pointerType === "touch" && now(), undo);
  input.addEventListener("input", () => undecided() || now());
}

/** What a price means, in one sentence. */
function sayPrice(lam, per) {
  if (lam === 0) return "Compute is free: every question takes the cheapest of its best budgets.";
  const points = 100 * lam;
  // Over the step, not one by one: a second answer may bring nothing and be bought on the way to the fourth.
  const bring = `${threeDigits(points)} point${points === 1 ? "" : "s"} of accuracy`;
  return `A larger budget must bring ${bring} for each ${per} it adds, or it is not taken.`;
}

/** How well the budget is met, in one sentence. */
function sayBudget(table, state, view, fit) {
  const show = (x) => fixed(x, table.range.digits);
  if (!fit) return `The oracle spends ${show(view.cost)} ${table.units} per question at this price.`;
  if (fit.fit === "exact") return `This price spends exactly ${show(fit.cost)}: no slack.`;
  if (fit.fit === "impossible") return `No allocation is that cheap: the cheapest costs ${show(fit.cost)}.`;
  if (fit.fit === "free") return `Even at price 0 the oracle spends ${show(fit.cost)}; the other ${show(fit.slack)} would gain nothing.`;
  return `No price spends exactly ${Number(state.budget.toPrecision(12))}: it is ${show(fit.above)} just below this price ` +
    `and ${show(fit.cost)} from here on. Slack ${show(fit.slack)}; splitting one question would use it (see “Budgets”).`;
}
