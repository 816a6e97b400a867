// The areas on the first screen: how the questions split over the budgets, at every price.

class SplitPanel {
  constructor(act) {
    Object.assign(this, figure("The higher the price, the smaller the budgets", "Share of questions that get each number of answers. Drag the line."));
    this.svg.classList.add("ax-dragx");
    this.body = h("tbody");
    this.shares = numberTable("Questions at each budget", ["budget", "questions", "share"], this.body);
    this.node.append(h("details", { class: "ax-inner" }, h("summary", { text: "How many questions get what" }), this.shares));
    draggable(this.svg, (px) => act.price(threeDigits(this.x.invert(px))));
  }

  layout({ table, width, colours }) {
    const { path, n } = table;
    const { svg } = this;
    const box = frame(svg, width, 230);
    const x = (this.x = priceScale(table.range, box.left + 8, box.right));
    const y = linear(0, n, box.bottom, box.top);
    axes(svg, box, {
      x, y,
      xTicks: x.ticks.map((value) => ({ value, text: showTick(value) })),
      yTicks: [0, 0.5, 1].map((value) => ({ value: value * n, text: `${value * 100}%` })),
      xLabel: "price \u03bb (log scale)", yLabel: "share of questions",
    });
    const seen = onScreen(path.lam, x);
    const bands = bandsOf(table.k);
    const heights = splitsAt(path, seen.map(({ at }) => at), bands).map((counts) => {
      let sum = 0;
      return counts.map((count) => (sum += count));
    });
    const paints = Array.from({ length: bands.count }, (_, band) => colours[bands.middle(band)]);
    drawAreas(svg, { box, y, seen, heights, paints });
    if (bands.count === table.k) areaNames(svg, { box, y, seen, heights, paints, names: table.setting.budgets });
    this.turns = new Turns(svg, (at) => [x(path.lam[at]), box.bottom]);
    this.cursor = s(svg, "line", { class: "ax-cursor", y1: box.top - 4, y2: box.bottom });
    this.rows = new Map();
  }

  /** A row per budget; of thousands of budgets, those that most questions have. */
  list({ table, colours }, counts) {
    const columns = table.k <= MOST ? [...counts.keys()] : fullest(counts, MOST);
    if (columns.length === this.rows.size && columns.every((j) => this.rows.has(j))) return;
    this.rows = new Map(columns.map((j) => [j, { count: h("td"), share: h("td") }]));
    this.body.replaceChildren(...columns.map((j) => {
      const { count, share } = this.rows.get(j);
      return h("tr", {}, rowHead(colours[j], table.setting.budgets[j]), count, share);
    }));
    reachable(this.shares);
  }

  move(context, view) {
    const { table } = context;
    this.turns.move(table, context.row);
    const px = this.x(view.lam);
    set(this.cursor, { x1: px, x2: px });
    this.list(context, view.counts);
    const said = [];
    this.rows.forEach(({ count, share }, j) => {
      count.textContent = view.counts[j];
      share.textContent = `${fixed((100 * view.counts[j]) / table.n, 1)}%`;
      if (view.counts[j]) said.push(`${share.textContent} at budget ${visible(table.setting.budgets[j])}`);
    });
    this.svg.setAttribute("aria-label", `Share of questions at each budget against price. At price ${showPrice(view.lam)}: ${said.join(", ")}.`);
  }
}

/** The columns that most questions have, at most so many of them, in their order. */
function fullest(counts, most) {
  const used = [...counts.keys()].filter((j) => counts[j]);
  const byCount = used.sort((i, j) => counts[j] - counts[i]);
  return byCount.slice(0, most).sort((i, j) => i - j);
}

/** One area per band, stacked: `heights[i][j]` is how many questions are in band j or below from column i on. */
function drawAreas(svg, { box, y, seen, heights, paints }) {
  paints.forEach((paint, j) => {
    let up = "";
    let down = "";
    seen.forEach(({ px }, i) => {
      const to = seen[i + 1]?.px ?? box.right;
      const high = y(heights[i][j]).toFixed(1);
      const low = y(j ? heights[i][j - 1] : 0).toFixed(1);
      up += `${i ? "V" : `M${px} `}${high}H${to}`;
      down = `V${low}H${px}` + down;
    });
    s(svg, "path", { d: `${up}${down}Z`, class: "ax-area", style: paintOf(paint) });
  });
}

/** Write each budget into its area where the area is thickest, if it is thick enough to hold a word. */
function areaNames(svg, { box, y, seen, heights, paints, names }) {
  names.forEach((text, j) => {
    const band = (px) => {
      let i = seen.length - 1;
      while (i > 0 && seen[i].px > px) i--;
      return [y(heights[i][j]), y(j ? heights[i][j - 1] : 0)];
    };
    let best = { room: 0 };
    const name = clip(text, LONGEST);
    const half = 4 + name.length * 3.3;
    for (let px = box.left + half; px < box.right - half; px += 6) {
      const bands = [band(px - half), band(px), band(px + half)];
      const top = Math.max(...bands.map((b) => b[0]));
      const bottom = Math.min(...bands.map((b) => b[1]));
      if (bottom - top > best.room) best = { room: bottom - top, px, py: (top + bottom) / 2 };
    }
    if (best.room > 13) nameOn(svg, best.px, best.py + 4, name, paints[j]);
  });
}
