// Chapter 11: a menu of models under a price list that the reader edits. The oracle of the menu, of each model alone, and
// the best mix of all arms, for so many dollars per thousand questions; adalib.frontier and adalib.best_mix do the same.
(function () {
  "use strict";
  const { element, everywhere } = window.adalibParts;

  // The lowest price at which the labels fit the budget, by halving; ties go to the cheaper arm.
  function oracle(acc, cost, arms, budget) {
    const order = [...arms].sort((a, b) => cost[a] - cost[b]);
    const buy = (lam) =>
      acc.map((row) => {
        let best = order[0];
        for (const arm of order) if (row[arm] - lam * cost[arm] > row[best] - lam * cost[best] + 1e-12) best = arm;
        return best;
      });
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const spent = (labels) => mean(labels.map((arm) => cost[arm]));
    if (cost[order[0]] > budget * (1 + 1e-12)) return null;
    let low = 0, high = 1 / (cost[order[0]] || 1), labels = buy(0);
    if (spent(labels) > budget) {
      while (spent(buy(high)) > budget) high *= 2;
      for (let step = 0; step < 60; step += 1) {
        const middle = (low + high) / 2;
        if (spent(buy(middle)) > budget) low = middle;
        else high = middle;
      }
      labels = buy(high);
    }
    return { labels, cost: spent(labels), accuracy: mean(labels.map((arm, row) => acc[row][arm])) };
  }

  // The best random mix of two arms at a budget, the same for every question.
  function mix(means, cost, budget) {
    let best = null;
    means.forEach((one, a) => means.forEach((other, b) => {
      if (cost[a] > budget || cost[b] < cost[a]) return;
      const share = cost[b] <= budget ? 1 : (budget - cost[a]) / (cost[b] - cost[a]);
      const value = one + share * (other - one);
      if (best === null || value > best.accuracy) best = { accuracy: value, cost: cost[a] + share * (cost[b] - cost[a]) };
    }));
    return best;
  }

  function menu(root, data) {
    const form = element("div", { className: "bill-fields" });
    const field = (label, value) => {
      const input = element("input", { type: "number", min: 0, step: "any", value });
      input.addEventListener("input", draw);
      form.append(element("label", {}, `${label} `, input));
      return () => Math.max(Number(input.value) || 0, 0);
    };
    const charged = data.models.map((model) => ({
      read: field(`${model.name}: $ per million tokens read`, model.read),
      written: field(`${model.name}: $ per million written`, model.written),
    }));
    const prompt = field("tokens per prompt", data.prompt);
    const dollars = field("$ for a thousand questions", data.dollars);
    const body = element("tbody");
    const names = ["models and rule", "accuracy", "$ per thousand", ...data.models.map((model) => `sent to ${model.name}`)];
    const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
    const table = element("table", { className: "adalib-table" }, element("thead", {}, head), body);
    const said = element("p", { className: "stop-board" });
    said.setAttribute("role", "status");
    const all = data.arms.map((_, arm) => arm);
    const means = all.map((arm) => data.acc.reduce((sum, row) => sum + row[arm], 0) / data.acc.length);

    function draw() {
      // games.priced_in_dollars
      const unit = data.models.map((model, m) => (prompt() * charged[m].read() + model.tokens * charged[m].written()) / 1000);
      const cost = data.arms.map(([model, answers]) => answers * unit[model]);
      const budget = dollars();
      const money = (value) => (value < 0.1 ? value.toPrecision(2) : value.toFixed(3));
      const row = (name, found, sent) => {
        const cells = found ? [name, found.accuracy.toFixed(3), money(found.cost), ...sent] : [name, "too expensive", "", ...sent.map(() => "")];
        return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
      };
      const shares = (found) => data.models.map((_, m) => (found ? `${Math.round((100 * found.labels.filter((arm) => data.arms[arm][0] === m).length) / data.acc.length)}%` : ""));
      const best = oracle(data.acc, cost, all, budget);
      const alone = data.models.map((_, m) => oracle(data.acc, cost, all.filter((arm) => data.arms[arm][0] === m), budget));
      body.replaceChildren(
        row("all, one price", best, shares(best)),
        ...data.models.map((model, m) => row(`${model.name} alone, one price`, alone[m], shares(alone[m]))),
        row("all, the best mix", mix(means, cost, budget), data.models.map(() => "")),
      );
      const ratio = unit[1] / unit[0];
      said.textContent = Number.isFinite(ratio)
        ? `One answer of ${data.models[1].name} costs as much as ${ratio.toPrecision(3)} of ${data.models[0].name}. ` +
          (best ? `At $${money(budget)} per thousand the price sends ${shares(best)[1]} of the questions to ${data.models[1].name}.` : "The budget does not buy one answer per question.")
        : `Answers of ${data.models[0].name} are free here.`;
    }

    root.replaceChildren(form, element("div", { className: "adalib-scroll", tabIndex: 0 }, table), said);
    draw();
  }

  everywhere("menu", menu);
})();
