// A challenge: which price spends exactly so much? The reader guesses before the page tells.

class Challenge {
  constructor(act, uid) {
    this.summary = h("summary");
    this.guess = h("input", { type: "number", id: `${uid}-guess`, min: 0, step: "any", required: true });
    this.told = h("p", { class: "ax-say", role: "status", hidden: true });
    const form = h("form", { class: "ax-guess" }, h("label", { for: this.guess.id, text: "Your guess of the price" }), this.guess,
      h("button", { text: "Reveal" }));
    this.node = h("details", { class: "ax-panel" }, this.summary, form, this.told);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      act.budget(this.target);
      this.told.hidden = false;
      this.told.textContent = sayGuess(this.table, Number(this.guess.value), this.target);
    });
  }

  layout({ table }) {
    if (table === this.table) return;
    this.table = table;
    this.target = challengeOf(table);
    this.node.hidden = !table.path.events.length;
    this.summary.textContent = `Challenge: spend exactly ${this.target} ${table.units} per question`;
    this.guess.value = "";
    this.told.hidden = true;
  }
}

/** What to spend: two and a half answers where that is possible, else a third of the way up. */
function challengeOf({ path, range }) {
  const most = path.cost[0];
  if (range.cheapest < 2.5 && most > 2.5 && most < 20) return 2.5;
  return Number((range.cheapest + 0.3 * (most - range.cheapest)).toPrecision(2));
}

function sayGuess(table, guess, target) {
  const show = (x) => fixed(x, table.range.digits);
  const { cost } = oracle(table, guess);
  const off = cost - target;
  const guessed = off === 0 ? "exactly right" : `${show(Math.abs(off))} too ${off > 0 ? "much: the price is too low" : "little: the price is too high"}`;
  const fit = priceFor(table, target);
  const found = fit.fit === "exact"
    ? `The price ${showPrice(fit.lam)} spends exactly ${target}.`
    : `No price does it: just below ${showPrice(fit.lam)} the questions spend ${show(fit.above)}, and from there on ${show(fit.cost)}.`;
  return `At ${threeDigits(guess)} the questions spend ${show(cost)}, ${guessed}. ${found}`;
}
