// One question: its curve with the tangent whose slope is the price, its text and votes, and what each budget is worth.

class QuestionPanel {
  constructor(act) {
    Object.assign(this, figure("One question and its tangent", "A line of slope \u03bb comes down onto the curve. The budget it touches first is the one the question takes."));
    this.node.classList.add("ax-card");
    this.title = h("p", { class: "ax-qid" });
    this.text = h("blockquote");
    this.gold = h("p", { class: "ax-gold" });
    this.votes = h("ol", { class: "ax-votes" });
    this.strip = new Strip();
    this.body = h("tbody");
    this.values = numberTable("What each budget is worth", ["budget", "accuracy", "price paid", "net value"], this.body);
    const words = h("div", {}, ...questionPicker(act), this.title, this.text, this.gold, this.votes);
    this.node.append(h("div", { class: "ax-two" }, this.svg, words), h("details", { class: "ax-inner" },
      h("summary", { text: "What each budget is worth to this question" }), this.values,
      h("p", { class: "ax-sub", text: "The budget this question gets, as the price rises:" }), this.strip.svg));
  }

  layout({ table, width, wide }) {
    this.box = frame(this.svg, width, 215);
    this.strip.layout(table, wide);
    this.shown = -1;
  }

  /** A dot and a row of the table for every budget; of thousands, for some, and for the one that this question gets. */
  list({ table, colours }, won) {
    const { budgets } = table.setting;
    this.bars = new Map(columnsToShow(table.k, won).map((j) => [j, { paint: colours[j] }]));
    this.bars.forEach((bar, j) => {
      bar.cells = ["accuracy", "paid", "net"].map((key) => h("td", { "data-value": key }));
      bar.row = h("tr", {}, rowHead(bar.paint, budgets[j]), ...bar.cells);
    });
    this.body.replaceChildren(...[...this.bars.values()].map((bar) => bar.row));
    reachable(this.values);
  }

  /** What changes with the question, not with the price. */
  describe(context, won) {
    const { table, row, colours } = context;
    const { setting } = table;
    this.list(context, won);
    this.title.textContent = `Question ${nameOf(setting, row)}` + (setting.levels?.[row] ? ` \u00b7 level ${visible(setting.levels[row])}` : "");
    this.text.textContent = setting.questions?.[row] ?? "";
    this.text.hidden = !this.text.textContent;
    reachable(this.text);
    const gold = setting.golds?.[row];
    this.gold.replaceChildren("Right answer: ", h("bdi", { text: gold ?? "" }));
    this.gold.hidden = !gold;
    drawVotes(this.votes, setting.votes?.[row]);
    this.drawCurve(table, row);
    this.strip.draw(table, row, colours);
    this.shown = row;
  }

  /** The question's accuracies against what they cost, from a cost of 0: there the tangent shows the net value. */
  drawCurve({ acc, cost, stride, k, units, setting }, row) {
    const { svg, box } = this;
    const points = [...this.bars.keys()].map((j) => ({ cost: cost[row * stride + j], accuracy: acc[row * k + j] }));
    const accuracies = points.map((p) => p.accuracy);
    const most = Math.max(...points.map((p) => p.cost)) || 1;
    const top = Math.max(...accuracies);
    const low = Math.max(0, Math.min(...accuracies, top - 0.3) - 0.1);
    const high = Math.min(1, Math.max(top, low + 0.3) + 0.1);
    svg.replaceChildren();
    const x = (this.x = linear(0, most, box.left, box.right - 14));
    const y = (this.y = linear(low, high, box.bottom, box.top + 8));
    axes(svg, box, { x, y, xTicks: niceTicks(0, most, 5), yTicks: percentTicks(low, high), xLabel: `cost (${units})`, yLabel: "accuracy" });
    this.tangent = s(svg, "path", { class: "ax-tangent" });
    // One line for each model: their answers are no steps of one curve.
    const spots = new Map(); // by model
    [...this.bars.keys()].forEach((j, i) => {
      const model = setting.models?.[j] ?? "";
      spots.set(model, [...(spots.get(model) ?? []), { px: x(points[i].cost), py: y(points[i].accuracy) }]);
    });
    spots.forEach((line, model) => {
      s(svg, "path", { class: "ax-curve", d: `M${line.map(({ px, py }) => `${px.toFixed(1)} ${py.toFixed(1)}`).join("L")}` });
      const { px, py } = line[line.length - 1];
      if (spots.size > 1) s(svg, "text", { class: "ax-name ax-halo", x: px, y: py > (box.top + box.bottom) / 2 ? py - 11 : py + 20, "text-anchor": "end" }, visible(model));
    });
    [...this.bars.values()].forEach((bar, i) => {
      s(svg, "circle", { class: "ax-dot", r: 5, cx: x(points[i].cost), cy: y(points[i].accuracy), style: paintOf(bar.paint) });
    });
    this.winner = s(svg, "g", { class: "ax-winner" });
    s(this.winner, "circle", { r: 9 });
    s(this.winner, "text", {});
  }

  move(context, view) {
    const { table, row } = context;
    const { setting, k, acc, cost, stride } = table;
    const won = view.labels[row];
    if (this.shown !== row || !this.bars.has(won)) this.describe(context, won);
    const spoken = [...this.bars].map(([j, bar]) => {
      const accuracy = acc[row * k + j];
      const paid = view.lam * cost[row * stride + j];
      const net = accuracy - paid;
      [fixed(accuracy, 4), fixed(paid, 4), minus(fixed(net, 4))].forEach((value, c) => (bar.cells[c].textContent = value));
      bar.row.className = j === won ? "ax-won" : "";
      return `budget ${visible(setting.budgets[j])} ${fixed(net, 3)}`;
    });
    this.lay(view.lam, cost[row * stride + won], acc[row * k + won], setting.budgets[won]);
    this.strip.move(view.lam);
    this.svg.setAttribute("aria-label", `Net values at price ${showPrice(view.lam)}: ${spoken.join(", ")}. ` +
      `The tangent touches the curve at budget ${visible(setting.budgets[won])}.`);
  }

  /** Lay the line of slope lam through the budget taken, as far as the box reaches. */
  lay(lam, spent, accuracy, name) {
    const { box, x, y } = this;
    const height = (at) => accuracy + lam * (at - spent);
    const across = (level) => (lam ? spent + (level - accuracy) / lam : null);
    const from = height(0) < y.invert(box.bottom) ? across(y.invert(box.bottom)) : 0;
    const end = x.invert(box.right);
    const to = height(end) > y.invert(box.top) ? across(y.invert(box.top)) : end;
    set(this.tangent, { d: `M${x(from).toFixed(1)} ${y(height(from)).toFixed(1)}L${x(to).toFixed(1)} ${y(height(to)).toFixed(1)}` });
    const [ring, label] = this.winner.children;
    const px = x(spent);
    const py = y(accuracy);
    set(ring, { cx: px, cy: py });
    const left = px > (box.left + box.right) / 2;
    set(label, { x: px + (left ? -12 : 12), y: py + 20 < box.bottom ? py + 20 : py - 12, "text-anchor": left ? "end" : "start" });
    label.textContent = `takes ${clip(name, LONGEST)}`;
  }
}

/** Search, and the question before and after. */
function questionPicker(act) {
  const search = h("input", { type: "search", placeholder: "Search the questions", autocomplete: "off" });
  search.setAttribute("aria-label", "Search the questions by text, id or answer");
  const previous = h("button", { type: "button", "aria-label": "Previous question", text: "\u2190" });
  const next = h("button", { type: "button", "aria-label": "Next question", text: "\u2192" });
  const found = h("ul", { class: "ax-found", hidden: true });
  previous.addEventListener("click", () => act.pickStep(-1));
  next.addEventListener("click", () => act.pickStep(1));
  const close = () => found.replaceChildren() || (found.hidden = true);
  search.addEventListener("input", () => {
    found.replaceChildren(...act.find(search.value).map(({ row, id, body }) => {
      const button = h("button", { type: "button" }, h("bdi", { text: id }), "  ", h("bdi", { text: clip(body, 70) }));
      button.addEventListener("click", () => {
        act.pick(row);
        search.value = "";
        close();
        search.focus();
      });
      return h("li", {}, button);
    }));
    if (search.value && !found.firstChild) found.append(h("li", { text: "No question matches." }));
    found.hidden = !found.firstChild;
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key === "Enter") found.querySelector("button")?.click();
  });
  return [h("div", { class: "ax-pick" }, search, previous, next), found];
}

/** A bar for each answer that got votes, the right ones marked; for the others, and for what could not be read. */
function drawVotes(list, cast) {
  list.replaceChildren();
  list.hidden = !cast;
  if (!cast) return;
  const [top, others, otherVotes, empty] = cast;
  const most = Math.max(1, ...top.map((v) => v[1]), otherVotes, empty);
  const bar = (label, count, share) => {
    const meter = h("i", { style: `width:${(100 * count) / most}%` });
    const tally = h("span", { text: `${count}${share > 0 ? " \u2713" : ""}`, title: share > 0 ? "right" : "wrong" });
    const name = h("span", { title: label }, h("bdi", { text: label }));
    list.append(h("li", { class: share > 0 ? "ax-right" : "" }, name, h("span", { class: "ax-meter" }, meter), tally));
  };
  top.forEach(([answer, count, share]) => bar(answer, count, share));
  if (others) bar(`${plural(others, "other answer")}`, otherVotes, 0);
  if (empty) bar("no answer read", empty, 0);
  list.setAttribute("aria-label", "Votes: " + top.map(([a, c, share]) => `${a} ${c}${share > 0 ? " (right)" : ""}`).join(", "));
}

/** The budget of one question as the price rises, as a strip of colours. */
class Strip {
  constructor() {
    this.svg = drawing();
  }

  layout({ range }, width) {
    set(this.svg, { width, height: 26, viewBox: `0 0 ${width} 26` });
    this.width = width;
    this.x = priceScale(range, 1, width - 1);
  }

  draw(table, row, colours) {
    const { svg, x, width } = this;
    const { budgets } = table.setting;
    svg.replaceChildren();
    const runs = [{ from: 0, label: labelOf(table, row, 0) }, ...rowSteps(table, row).map(([from, , label]) => ({ from, label }))];
    runs.forEach((run, i) => {
      const from = x(run.from);
      const to = i + 1 < runs.length ? x(runs[i + 1].from) : width - 1;
      s(svg, "rect", { x: from, y: 2, width: Math.max(0, to - from), height: 22, class: "ax-area", style: paintOf(colours[run.label]) });
      if (to - from > 22) nameOn(svg, (from + to) / 2, 17, clip(budgets[run.label], 6), colours[run.label]);
    });
    this.cursor = s(svg, "line", { class: "ax-cursor", y1: 0, y2: 26 });
    svg.setAttribute("aria-label", "Budget of this question as the price rises: " +
      runs.map((run) => `${budgets[run.label]} from price ${showPrice(run.from)}`).join(", ") + ".");
  }

  move(lam) {
    set(this.cursor, { x1: this.x(lam), x2: this.x(lam) });
  }
}
