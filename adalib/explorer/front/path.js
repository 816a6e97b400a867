// The exact path over all prices: every breakpoint there is, and what a budget or a slider makes of them.

/** One row as the price rises: it walks down its upper concave envelope, one [price, from, to] a step. */
function rowSteps(table, row) {
  const { acc, cost } = table;
  const a = row * table.k;
  const c = row * table.stride;
  const slope = (from, to) => (acc[a + from] - acc[a + to]) / (cost[c + from] - cost[c + to]);
  const corners = []; // of the envelope of the columns so far, cheapest first; a column on a straight line is a corner too
  const top = labelOf(table, row, 0);
  for (let j = 0; j <= top; j++) {
    const last = corners[corners.length - 1];
    if (corners.length && acc[a + j] <= acc[a + last] + TIE * (j < top)) continue; // more expensive and no better
    if (corners.length && cost[c + j] <= cost[c + last]) corners.pop(); // better at the same cost
    while (corners.length > 1) {
      const [p, q] = corners.slice(-2);
      if (slope(q, p) >= slope(j, q) * (1 - TIE)) break;
      corners.pop();
    }
    corners.push(j);
  }
  const steps = [];
  for (let at = corners.length - 1; at > 0; at--) {
    // Rounding may turn a later step less steep than the one before; the envelope is concave: level it.
    const price = Math.max(slope(corners[at], corners[at - 1]), steps.length ? steps[steps.length - 1][0] : 0);
    steps.push([price, corners[at], corners[at - 1]]);
  }
  return steps;
}

/** The exact path: one sort of the steps of all rows gives cost, accuracy and split at every price there is. */
function exactPath(table) {
  const { n, k, acc, cost, stride } = table;
  const events = [];
  const split = new Array(k).fill(0);
  const release = new Float64Array(n); // the price at which a row lets go for the last time
  let spent = 0;
  let right = 0;
  for (let i = 0; i < n; i++) {
    const steps = rowSteps(table, i);
    const start = steps.length ? steps[0][1] : labelOf(table, i, 0);
    split[start]++;
    spent += cost[i * stride + start];
    right += acc[i * k + start];
    for (const [price, from, to] of steps) {
      events.push({ price, from, to, row: i });
      release[i] = price;
    }
  }
  events.sort((e, f) => e.price - f.price || e.row - f.row);
  const path = { lam: [0], cost: [spent / n], accuracy: [right / n], events, used: [0], start: split };
  for (let at = 0; at < events.length; ) {
    const start = events[at].price;
    // Equal breakpoints of different rows may differ in the last bit: they are one price.
    for (; at < events.length && events[at].price - start <= TIE * start; at++) {
      const { row, from, to } = events[at];
      spent -= cost[row * stride + from] - cost[row * stride + to];
      right -= acc[row * k + from] - acc[row * k + to];
    }
    path.lam.push(events[at - 1].price);
    path.cost.push(spent / n);
    path.accuracy.push(right / n);
    path.used.push(at);
  }
  path.held = Uint32Array.from({ length: n }, (_, i) => i).sort((i, j) => release[j] - release[i] || i - j);
  return path;
}

/** The point of the path that a price leads to. */
function pointAt({ lam }, price) {
  const at = lam.findLastIndex((breakpoint) => breakpoint <= price * (1 + TIE));
  return Math.max(at, 0);
}

/** How many questions are in each band of budgets, at some points of the path (in rising order): the steps again. */
function splitsAt({ start, events, used }, points, bands = bandsOf(start.length)) {
  const split = new Array(bands.count).fill(0);
  start.forEach((count, j) => (split[bands.of(j)] += count));
  let done = 0;
  return points.map((point) => {
    for (; done < used[point]; done++) {
      split[bands.of(events[done].from)]--;
      split[bands.of(events[done].to)]++;
    }
    return split.slice();
  });
}

/** A band per budget, or so many bands of neighbouring budgets; `middle` is a column of a band. */
function bandsOf(k) {
  const count = Math.min(k, MOST);
  return { count, of: (j) => Math.floor((j * count) / k), middle: (band) => Math.floor(((band + 0.5) * k) / count) };
}

/** The smallest price whose cheapest-tie cost fits in the budget, and how well it fits. */
function priceFor({ path }, budget) {
  const rounding = 1e-9 * path.cost[0]; // a sum of costs is not exact to the last bit
  let low = 0;
  let high = path.cost.length - 1;
  if (path.cost[high] > budget + rounding) return { lam: path.lam[high], cost: path.cost[high], fit: "impossible" };
  while (low < high) {
    const middle = (low + high) >> 1;
    if (path.cost[middle] <= budget + rounding) high = middle;
    else low = middle + 1;
  }
  const slack = Math.max(0, budget - path.cost[low]);
  const exact = slack <= rounding;
  const fit = exact ? "exact" : low === 0 ? "free" : "slack";
  return { lam: path.lam[low], cost: path.cost[low], fit, slack: exact ? 0 : slack, above: path.cost[low - 1], point: low };
}

/**
 * The columns that the exact frontier gives within a budget: every step above the price, and of the steps at the price
 * as many as fit, in the frontier's own order (adalib.frontier(...).at(budget).labels).
 */
function labelsWithin(table, budget) {
  const { lam, cost, point } = priceFor(table, budget);
  const { labels } = oracle(table, lam);
  if (!point) return labels;
  const { path, n } = table;
  const tied = path.events.slice(path.used[point - 1], path.used[point]);
  const keys = new Map(tied.map((event) => [event, stepKey(table, event)]));
  tied.sort((e, f) => keys.get(e) - keys.get(f) || e.row - f.row);
  let spent = cost * n;
  for (const { row, from, to } of tied) {
    spent += table.cost[row * table.stride + from] - table.cost[row * table.stride + to];
    if (spent > n * budget * (1 + TIE)) break;
    labels[row] = from;
  }
  return labels;
}

/** What adalib sorts a step by: minus its slope, the last bits replaced by the number of its two columns. */
function stepKey({ k, acc, cost, stride }, { row, from, to }) {
  const rise = cost[row * stride + from] - cost[row * stride + to];
  const slope = Float64Array.of((acc[row * k + to] - acc[row * k + from]) * (1 / rise));
  const pairs = (k * (k - 1)) / 2;
  const mask = 2 ** (32 - Math.clz32(pairs)) - 1;
  // Pairs of columns (to, from) are numbered from the last one down.
  const code = pairs - 1 - (to * k - (to * (to + 1)) / 2 + from - to - 1);
  const bits = new Uint32Array(slope.buffer); // the first word is the low one on every machine that has a browser
  bits[0] = ((bits[0] & ~mask) | code) >>> 0;
  return slope[0];
}

/** Where the sliders run: whole decades that hold the breakpoints; budgets from the cheapest to a little above C(0). */
function sliderRange({ path }) {
  let low = 1e-3;
  let high = 1;
  const { events } = path;
  const quantile = (q) => events[Math.min(events.length - 1, Math.floor(q * events.length))].price;
  if (events.length) {
    high = 10 ** Math.ceil(Math.log10(quantile(1) * 1.02));
    low = clamp(10 ** Math.floor(Math.log10(quantile(0.1))), high * 1e-6, high * 1e-2);
  }
  const cheapest = path.cost[path.cost.length - 1];
  const spread = path.cost[0] - cheapest || cheapest || 1;
  const power = Math.floor(Math.log10(spread / 100));
  const step = Number(`1e${power}`);
  return {
    low, high, cheapest, step,
    digits: clamp(1 - power, 0, 12),
    budgetDigits: clamp(-power, 0, 12),
    budgetLow: Math.ceil(cheapest / step - 1e-9) * step,
    budgetHigh: Math.ceil((path.cost[0] + 0.1 * spread) / step) * step,
    start: events.length ? threeDigits(quantile(0.5)) : 0.01,
  };
}
