// Panel 5: one question, its votes, its curve, and what each budget is worth at this price.

class QuestionPanel {
  constructor(act) {
    Object.assign(this, figure("One question: what each budget is worth", "Hollow: accuracy. Filled: what is left after paying."));
    this.node.classList.add("ax-card");
    this.title = h("p", { class: "ax-qid" });
    this.text = h("blockquote");
    this.gold = h("p", { class: "ax-gold" });
    this.votes = h("ol", { class: "ax-votes" });
    this.strip = new Strip();
    this.body = h("tbody");
    this.values = numberTable("What each budget is worth", ["budget", "accuracy", "price paid", "net value"], this.body);
    this.svg.before(...questionPicker(act), this.title, this.text, this.gold, this.votes);
    this.node.append(this.values, h("p", { class: "ax-sub", text: "The budget this question gets, as the price rises:" }), this.strip.svg);
  }

  layout({ table, width }) {
    this.box = frame(this.svg, width, 220);
    this.strip.layout(table, width);
    this.shown = -1;
  }

  /** A bar and a row of the table for every budget; of thousands, for some, and for the one that this question gets. */
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
    const { table, state, colours } = context;
    const { setting } = table;
    this.list(context, won);
    const row = state.selected;
    this.title.textContent = `Question ${nameOf(setting, row)}` + (setting.levels?.[row] ? ` \u00b7 level ${visible(setting.levels[row])}` : "");
    this.text.textContent = setting.questions?.[row] ?? "";
    this.text.hidden = !this.text.textContent;
    reachable(this.text);
    const gold = setting.golds?.[row];
    this.gold.replaceChildren("Right answer: ", h("bdi", { text: gold ?? "" }));
    this.gold.hidden = !gold;
    drawVotes(this.votes, setting.votes?.[row]);
    this.drawScale(table, row);
    this.strip.draw(table, row, colours);
    this.shown = row;
  }

  /** Axes that fit the question's own curve; a net value below the floor is off the chart, and says so. */
  drawScale({ setting, acc, k }, row) {
    const { svg, box } = this;
    const curve = acc.subarray(row * k, row * k + k);
    const floor = (this.floor = Math.max(-0.25, curve.reduce((a, b) => Math.min(a, b)) - 0.35));
    const top = curve.reduce((a, b) => Math.max(a, b)) + 0.1;
    svg.replaceChildren();
    const x = (this.x = linear(-0.5, k - 0.5, box.left, box.right));
    const y = (this.y = linear(floor, top, box.bottom, box.top));
    axes(svg, box, {
      x, y,
      xTicks: [...this.bars.keys()].map((value) => ({ value, text: clip(setting.budgets[value], 8) })),
      yTicks: niceTicks(floor, Math.min(1, top), 4),
      xLabel: "budget", yLabel: "net value f = accuracy \u2212 \u03bb \u00d7 cost",
    });
    const step = (box.right - box.left) / this.bars.size;
    const winner = (this.winner = s(svg, "g", { class: "ax-winner" }));
    s(winner, "line", { x1: box.left, x2: box.right });
    this.bars.forEach((bar, j) => {
      bar.dot = Math.min(6, 0.3 * step);
      bar.stem = s(svg, "line", { class: "ax-stem", x1: x(j), x2: x(j) });
      s(svg, "circle", { class: "ax-acc", r: bar.dot, cx: x(j), cy: y(curve[j]) });
      bar.net = s(svg, "path", { class: "ax-net", style: paintOf(bar.paint) });
    });
    s(winner, "circle", { r: Math.min(10, 0.45 * step) });
    s(winner, "text", { "text-anchor": "middle" });
    svg.append(winner);
  }

  move(context, view) {
    const { table, state } = context;
    const { setting, k, acc, cost, stride } = table;
    const row = state.selected;
    const won = view.labels[row];
    if (this.shown !== row || !this.bars.has(won)) this.describe(context, won);
    const said = [...this.bars].map(([j, bar]) => {
      const accuracy = acc[row * k + j];
      const paid = view.lam * cost[row * stride + j];
      const net = accuracy - paid;
      const py = this.placeBar(bar, this.x(j), accuracy, net);
      [fixed(accuracy, 4), fixed(paid, 4), minus(fixed(net, 4))].forEach((value, c) => (bar.cells[c].textContent = value));
      bar.row.className = j === won ? "ax-won" : "";
      if (j === won) this.crown(this.x(j), py, accuracy, setting.budgets[j]);
      return `budget ${visible(setting.budgets[j])} ${fixed(net, 3)}`;
    });
    this.strip.move(view.lam);
    this.svg.setAttribute("aria-label", `Net values at price ${showPrice(view.lam)}: ${said.join(", ")}. ` +
      `The winner is budget ${visible(setting.budgets[won])}.`);
  }

  /** A circle where the net value is; a triangle pointing down where it is off the chart. Returns its height. */
  placeBar(bar, px, accuracy, net) {
    const py = this.y(Math.max(net, this.floor));
    const r = bar.dot;
    set(bar.stem, { y1: this.y(accuracy), y2: py });
    const circle = `M${px - r} ${py}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    set(bar.net, { d: net < this.floor ? `M${px - r} ${py - r - 2}h${2 * r}l${-r} ${r}Z` : circle });
    return py;
  }

  crown(px, py, accuracy, name) {
    const [rule, ring, label] = this.winner.children;
    set(rule, { y1: py, y2: py });
    set(ring, { cx: px, cy: py });
    set(label, { x: clamp(px, this.box.left + 28, this.box.right - 28), y: this.y(accuracy) - 14 });
    label.textContent = `winner: ${clip(name, 8)}`;
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
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("role", "img");
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
