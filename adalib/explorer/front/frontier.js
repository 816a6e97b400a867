// The curve of the first screen: accuracy against average cost, and the point that the price moves along it.

class FrontierPanel {
  constructor(act) {
    Object.assign(this, figure("What the price buys", "Drag the point. Dashed: the best mix of settings given to all. Small dots: where the question in view changes its budget."));
    this.node.classList.add("ax-drag");
    draggable(this.svg, (px) => act.budget(this.snap(this.x.invert(px))));
  }

  layout({ table, width, colours }) {
    const { svg } = this;
    this.box = frame(svg, width, 250);
    this.scale(table);
    this.drawCurves(table);
    this.drawNames(table, colours);
    const { path } = table;
    this.turns = new Turns(svg, (at) => [this.x(path.cost[at]), this.y(path.accuracy[at])]);
    this.pin = s(svg, "circle", { r: 6, class: "ax-pin" });
    this.gain = s(svg, "path", { class: "ax-gain" });
    this.place = marker(svg);
  }

  /** Scales and axes: costs on a log axis when they span much, with a tick at each uniform budget. */
  scale({ path, uniform, range, units }) {
    const { svg, box } = this;
    const low = Math.min(range.cheapest, ...uniform.map((p) => p.cost));
    const high = Math.max(path.cost[0], ...uniform.map((p) => p.cost));
    const log = low > 0 && high / low >= 4;
    const all = [...uniform.map((p) => p.accuracy), path.accuracy[0], path.accuracy[path.accuracy.length - 1]];
    const worst = Math.min(...all);
    const best = Math.max(...all);
    const pad = Math.max(0.012, (best - worst) * 0.14);
    const x = (log ? logarithmic : linear)(low, high === low ? low + 1 : high, box.left + 12, box.right - 10);
    const y = linear(worst - 2 * pad, best + pad, box.bottom, box.top);
    Object.assign(this, { x, y, log, high });
    this.snap = (value) => Number(clamp(value, range.cheapest, range.budgetHigh).toFixed(range.budgetDigits));
    const costs = uniform.map((p) => ({ value: p.cost, text: String(threeDigits(p.cost)) }));
    axes(svg, box, {
      x, y,
      xTicks: !log ? niceTicks(low, high, 5) : uniform.length < 9 ? costs : logTicks(low, high),
      yTicks: percentTicks(worst - pad, best + pad / 2),
      xLabel: `average cost (${units}${log ? ", log scale" : ""})`, yLabel: "accuracy",
    });
  }

  /** A polyline through points of cost and accuracy. Straight lines bend on a log axis: draw them in small pieces. */
  line(points) {
    const { x, y, log } = this;
    const pieces = log && points.length < 60 ? 12 : 1;
    return points.map((p, i) => {
      const q = points[i + 1] ?? p;
      return Array.from({ length: pieces }, (_, t) => {
        const f = t / pieces;
        return `${x(p.cost + f * (q.cost - p.cost)).toFixed(1)} ${y(p.accuracy + f * (q.accuracy - p.accuracy)).toFixed(1)}`;
      }).join("L");
    }).join("L");
  }

  drawCurves({ path, hull }) {
    const { svg, x, y, high } = this;
    const top = hull[hull.length - 1];
    s(svg, "path", { class: "ax-mix", d: `M${this.line([...hull, { cost: Math.max(high, top.cost), accuracy: top.accuracy }])}` });
    this.curve = onScreen(path.cost, x).map(({ at }) => ({ cost: path.cost[at], accuracy: path.accuracy[at] }));
    s(svg, "path", { class: "ax-rest", d: `M${x(path.cost[0])} ${y(path.accuracy[0])}H${x(high)}` });
    s(svg, "path", { class: "ax-line ax-oracle", d: `M${this.line(this.curve)}` });
  }

  /** Names go where there is room: `taken` holds the middle and half the width of what is there already. */
  drawNames({ setting, path, uniform, hull }, colours) {
    const { svg, box, x, y, curve } = this;
    const shown = columnsToShow(uniform.length).map((j) => uniform[j]);
    const taken = shown.map((p) => [x(p.cost), y(p.accuracy) + 4, 8]);
    const write = (px, py, text, name = "") => {
      const half = text.length * 3.3;
      const middle = clamp(px, box.left + half - 20, box.right + 8 - half);
      if (taken.some(([qx, qy, other]) => Math.abs(middle - qx) < half + other + 2 && Math.abs(py - qy) < 13)) return false;
      taken.push([middle, py, half]);
      return s(svg, "text", { x: middle, y: py, class: `ax-name ax-halo ${name}`, "text-anchor": "middle" }, text);
    };
    // The oracle is named at its end, else somewhere along its curve.
    const named = ({ cost, accuracy }, off) => write(x(cost) + off, y(accuracy) - 8, "oracle", "ax-oracle");
    const end = { cost: this.high, accuracy: path.accuracy[0] };
    if (path.events.length && !named(end, 0)) [0.4, 0.6, 0.2].some((share) => named(curve[Math.floor(share * curve.length)], -24));
    for (const p of shown) {
      const px = x(p.cost);
      const py = y(p.accuracy);
      s(svg, "path", { d: `M${px - 7} ${py}l7 -7l7 7l-7 7Z`, class: "ax-uniform", style: paintOf(colours[p.budget]) });
      write(px, py + 21, `all ${clip(setting.budgets[p.budget], LONGEST)}`);
    }
    // The mix is named on the longest of its segments that has room.
    const segments = hull.slice(1).map((q, i) => [x(hull[i].cost), x(q.cost)]).sort((p, q) => q[1] - q[0] - (p[1] - p[0]));
    segments.some(([from, to]) => [[48, 14], [0, 20], [0, -8]].some(([right, down]) => {
      const px = (from + to) / 2;
      return write(px + right, y(mixAt(hull, x.invert(px))) + down, "best mix");
    }));
  }

  move({ table, row, pinned }, view) {
    this.turns.move(table, row);
    const pin = pinned ?? view;
    set(this.pin, { cx: this.x(pin.cost), cy: this.y(pin.accuracy), visibility: pinned ? "visible" : "hidden" });
    const px = this.x(view.cost);
    const py = this.y(view.accuracy);
    const my = this.y(view.mix);
    set(this.gain, { d: `M${px} ${my}V${py}M${px - 4} ${my}h8` });
    this.place(this.box, px, py, `${signed(100 * view.gain, 2)} points`, "", "left");
    this.svg.setAttribute("aria-label", "Accuracy against average cost. " +
      `At ${fixed(view.cost, table.range.digits)} ${table.units} the oracle reaches ` +
      `${fixed(100 * view.accuracy, 2)}% accuracy, the best mix of uniform budgets ${fixed(100 * view.mix, 2)}%. Uniform budgets: ` +
      columnsToShow(table.k).map((j) => table.uniform[j]).map((p) => `${table.setting.budgets[p.budget]} gives ${fixed(100 * p.accuracy, 1)}%`).join(", ") + ".");
  }
}
