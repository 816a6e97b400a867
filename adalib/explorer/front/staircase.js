// A panel has a node, layout(context) that draws what does not move, and move(context, view) that follows the price.
// A context holds the table, the panel's width, the colours and the state; `act` is how a panel asks for a move.

/** A panel below: average cost against price. */
class StaircasePanel {
  constructor(act) {
    Object.assign(this, folded("Raise the price and spending falls, in steps", "What the oracle spends at each price. Drag the point. Small dots: where the question in view changes its budget."));
    this.node.classList.add("ax-drag");
    draggable(this.svg, (px) => act.price(threeDigits(this.x.invert(px))));
  }

  layout({ table, width }) {
    const { path, range } = table;
    const { svg } = this;
    const box = (this.box = frame(svg, width, 250));
    const top = path.cost[0];
    const floor = range.cheapest;
    const pad = (top - floor || top || 1) * 0.06;
    const x = (this.x = priceScale(range, box.left + 8, box.right));
    const y = (this.y = linear(floor - pad, top + pad, box.bottom, box.top));
    axes(svg, box, {
      x, y,
      xTicks: x.ticks.map((value) => ({ value, text: showTick(value) })),
      yTicks: niceTicks(floor, top, 5),
      xLabel: `price \u03bb (accuracy per ${table.per}, log scale)`,
      yLabel: `average cost (${table.units})`,
    });
    this.asked = s(svg, "line", { class: "ax-asked", x1: box.left, x2: box.right });
    let d = "";
    let last;
    for (const { px, at } of onScreen(path.lam, x)) {
      const py = y(path.cost[at]).toFixed(1);
      d += d ? `H${px}V${py}` : `M${px} ${py}`;
      last = py;
    }
    s(svg, "path", { class: "ax-line", d: d + `H${box.right}V${last}` });
    this.turns = new Turns(svg, (at) => [x(path.lam[at]), y(path.cost[at])]);
    this.place = marker(svg);
  }

  move({ table, state, row }, view) {
    const { box, y } = this;
    const { digits, cheapest } = table.range;
    this.turns.move(table, row);
    const px = this.x(view.lam);
    const py = y(view.cost);
    const show = state.budget !== null && state.budget >= y.invert(box.bottom) && state.budget <= y.invert(box.top);
    const at = show ? y(state.budget) : 0;
    set(this.asked, { y1: at, y2: at, visibility: show ? "visible" : "hidden" });
    this.place(box, px, py, fixed(view.cost, digits), `M${px} ${box.bottom}V${py}H${box.left}`, "right");
    this.svg.setAttribute("aria-label", `Average cost against price, a falling staircase from ` +
      `${fixed(table.path.cost[0], digits)} at price 0 to ${fixed(cheapest, digits)}. At price ${showPrice(view.lam)} ` +
      `the oracle spends ${fixed(view.cost, digits)} ${table.units} per question.`);
  }
}
