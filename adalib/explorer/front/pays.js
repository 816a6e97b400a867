// Does it pay here? One sentence at the budget in use, from answers that did not choose.

class Pays {
  constructor() {
    this.text = h("p", { "aria-live": "polite" });
    this.node = h("section", { class: "ax-pays", "aria-label": "Does it pay here?" }, h("strong", { text: "Does it pay here?" }), this.text);
    this.halves = new WeakMap(); // by setting, worked out once
  }

  /** Follow the budget in use; what is no longer asked for is dropped. */
  move({ table, state }, view) {
    const { setting } = table;
    this.node.hidden = !setting.halves;
    if (!setting.halves) return;
    const target = state.budget ?? view.cost;
    const asked = (this.asked = Symbol());
    this.node.setAttribute("aria-busy", "true");
    clearTimeout(this.waiting);
    this.waiting = setTimeout(async () => {
      const slices = new Slices(() => this.asked === asked);
      try {
        const text = await this.answer(setting, target, slices);
        if (this.asked !== asked) return;
        this.text.textContent = text;
        this.node.removeAttribute("aria-busy");
      } catch (error) {
        if (!(error instanceof BadFile)) throw error; // stopped: the reader has moved on
      }
    }, 250);
  }

  async answer(setting, target, slices) {
    if (!this.halves.has(setting)) this.halves.set(setting, await buildHalves(setting, slices));
    const halves = this.halves.get(setting);
    if (!halves) return `Too little data to tell: it takes at least ${FEWEST} questions with 4 answers each.`;
    const found = crossFit(halves, target);
    const [{ cost, units }] = halves.tables;
    if (found.cost <= cost[0]) return sayNothingToChoose(found.cost, units);
    const [low, high] = meanInterval(unitsOf(found.gains, halves.member));
    return sayPays(found, low, high, units);
  }

  stop() {
    clearTimeout(this.waiting);
    this.asked = null;
  }
}

/** At the smallest budget there is one policy, and it cannot gain over itself. */
function sayNothingToChoose(cost, units) {
  return `There is nothing to choose at ${fixed(cost, 2)} ${units} per question: every question has the smallest budget, ` +
    "so the oracle gives the same to everyone. Choosing can only pay above it.";
}

/** The verdict in one sentence; gains in points, with a sign. */
function sayPays({ cost, accuracy, mix }, low, high, units) {
  const points = (x) => signed(100 * x, 2);
  const percent = (x) => `${fixed(100 * x, 2)}%`;
  const found = `at ${fixed(cost, 2)} ${units} per question, an oracle that chose on one half of the answers reaches ${percent(accuracy)} ` +
    `on the other half, the same number of answers for everyone ${percent(mix)}: ${points(accuracy - mix)} points (95% interval [${points(low)},\u00a0${points(high)}])`;
  if (low > 0) return `It can: ${found}. A policy that does not know the right answers will gain less.`;
  return `Not clearly: ${found}. Even an oracle's gain could be chance here.`;
}
