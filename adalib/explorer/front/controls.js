// The price's slider with its play button, the budget's slider below, and the numbers that follow them.

const STEPS = 400; // positions of the price slider; 0 is free
const STOP = 25; // positions that a press on the play button goes where motion is unwelcome
const SWEEP = 12000; // milliseconds that the play button takes from one end to the other
const NUMBERS = { least: "", cost: "mean cost", accuracy: "accuracy", mix: "best mix", gain: "gain, points" };

class Controls {
  constructor(act, uid) {
    this.price = slider(`${uid}-lambda`, "lambda", ["Price ", h("var", { text: "\u03bb" })], { min: 0, max: STEPS, step: 1 });
    this.budget = slider(`${uid}-budget`, "budget", ["Budget ", h("var", { text: "B" })], {});
    this.meaning = h("p", { class: "ax-say" });
    this.verdict = h("p", { class: "ax-say ax-verdict" });
    this.compared = h("p", { class: "ax-say", hidden: true });
    this.pin = h("button", { type: "button" });
    const strip = h("div", { class: "ax-numbers", role: "list" });
    this.button = h("button", { type: "button", class: "ax-play" });
    this.price.node.prepend(this.button);
    // What is dragged and what it does stay in sight while the page scrolls below.
    this.node = h("div", { class: "ax-bar" }, this.price.node, strip);
    this.asked = h("details", { class: "ax-panel" }, h("summary", { text: "Start from a budget instead" }), this.budget.node, this.verdict);
    this.numbers = {};
    this.keys = {};
    for (const [key, text] of Object.entries(NUMBERS)) {
      this.numbers[key] = h("strong", { "data-number": key });
      this.keys[key] = h("span", { class: "ax-key", text });
      strip.append(h("div", { role: "listitem" }, this.keys[key], this.numbers[key]));
    }
    this.listen(act);
  }

  listen(act) {
    const { price, budget } = this;
    this.stop();
    this.button.addEventListener("click", () => (this.frame ? this.stop() : this.play(act)));
    this.pin.addEventListener("click", act.pin);
    // A hand on the slider takes over.
    for (const kind of ["pointerdown", "keydown"]) price.input.addEventListener(kind, () => this.stop());
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

  /** Sweep the price from where it is to its highest, or from 0 if it is there already. */
  play(act) {
    const at = Number(this.price.input.value);
    const start = at < STEPS ? at : 0;
    // Who wants no motion goes from stop to stop.
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return act.price(this.toPrice(Math.min(STEPS, start + STOP)));
    const began = performance.now();
    const step = (now) => {
      const to = Math.min(STEPS, Math.round(start + (STEPS * (now - began)) / SWEEP));
      if (to !== Number(this.price.input.value)) act.price(this.toPrice(to));
      this.frame = requestAnimationFrame(step);
      if (to === STEPS) this.stop();
    };
    this.frame = requestAnimationFrame(step);
    this.button.textContent = "\u275a\u275a";
    set(this.button, { "aria-label": "Stop the sweep", title: "Stop" });
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.button.textContent = "\u25b6";
    set(this.button, { "aria-label": "Sweep the price from low to high", title: "Sweep the price" });
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
    const [least] = table.setting.budgets;
    this.keys.least.textContent = table.setting.unit !== "answers" ? `take ${visible(least)}` : least === "1" ? "buy one answer" : `buy ${visible(least)}`;
    set(this.price.box, { max: high });
    set(this.budget.input, { min: budgetLow, max: budgetHigh, step });
  }

  /** Everything here that follows the price. Returns the sentence for those who listen. */
  move({ table, state, pinned }, view, fit) {
    const { price, budget, range } = this;
    const cost = fixed(view.cost, range.digits);
    const shownPrice = showPrice(view.lam);
    const text = {
      least: `${fixed((100 * view.counts[0]) / table.n, 0)}%`, cost, accuracy: `${fixed(100 * view.accuracy, 2)}%`,
      mix: `${fixed(100 * view.mix, 2)}%`, gain: signed(100 * view.gain, 2),
    };
    for (const key in text) this.numbers[key].textContent = text[key];
    price.box.title = `exactly ${view.lam}`;
    this.pin.textContent = pinned ? "Unpin" : "Pin this price";
    set(this.pin, { title: pinned ? "Forget the pinned price" : "Keep this price to compare with" });
    this.compared.hidden = !pinned;
    this.compared.textContent = pinned ? sayPinned(table, pinned, view) : "";
    price.input.value = this.toPosition(view.lam);
    price.box.value = Number(view.lam.toPrecision(4));
    budget.input.value = state.budget ?? view.cost;
    budget.box.value = state.budget ?? Number(view.cost.toFixed(range.digits));
    const refused = this.refused ?? "";
    this.refused = null;
    this.meaning.textContent = refused || sayPrice(view.lam, table);
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

const MIX = "The best mix spends as much, on questions drawn at random.";

/** What a price means, and what the best mix is. */
function sayPrice(lam, { per, units }) {
  if (lam === 0) return `Compute is free: every question takes the cheapest of its best budgets. ${MIX}`;
  const points = 100 * lam;
  // Over the step, not one by one: a second answer may bring nothing and be bought on the way to the fourth.
  const bring = `${threeDigits(points)} point${points === 1 ? "" : "s"} of accuracy`;
  return `A larger budget must bring ${bring} for each ${per} it adds, or it is not taken: a right answer is worth ${threeDigits(1 / lam)} ${units}. ${MIX}`;
}

/** The pinned price against the one in use. */
function sayPinned({ units, range }, pinned, view) {
  const moved = view.labels.reduce((sum, label, row) => sum + (label !== pinned.labels[row]), 0);
  const points = signed(100 * (view.accuracy - pinned.accuracy), 2);
  return `Against the pinned price ${showPrice(pinned.lam)}: ${signed(view.cost - pinned.cost, range.digits)} ${units} per question, ` +
    `${points} points of accuracy, ${plural(moved, "question")} with another budget.`;
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
