// The oracle at one price, by the same rule and in the same order as adalib.oracle_labels; uniform budgets and their best mix.

/** Everything about one setting that does not depend on the price, worked out once. */
function build(setting) {
  const k = setting.budgets.length;
  const n = setting.acc.length / k;
  const acc = Float64Array.from(setting.acc);
  const cost = Float64Array.from(setting.cost);
  const stride = cost.length === k ? 0 : k; // one cost vector for all, or a row of costs for each question
  const table = { setting, n, k, acc, cost, stride };
  table.path = exactPath(table);
  table.uniform = uniformPoints(table);
  table.hull = concaveHull(table.uniform);
  table.range = sliderRange(table);
  table.units = setting.unit === "cost" ? "cost units" : setting.unit;
  table.per = setting.unit === "cost" ? "cost unit" : setting.unit.replace(/s$/, "");
  return table;
}

/** Label of one row: the cheapest column whose net value is within TIE of the best. */
function labelOf({ k, acc, cost, stride }, row, lam) {
  const a = row * k;
  const c = row * stride;
  let best = -Infinity;
  for (let j = 0; j < k; j++) best = Math.max(best, acc[a + j] - lam * cost[c + j]);
  let j = 0;
  while (acc[a + j] - lam * cost[c + j] < best - TIE) j++;
  return j;
}

/** The oracle at one price: labels, how many questions at each budget, average cost and accuracy, and the best mix. */
function oracle(table, lam) {
  const { n, k, acc, cost, stride } = table;
  const labels = new Uint16Array(n);
  const counts = new Int32Array(k);
  let spent = 0;
  let right = 0;
  for (let i = 0; i < n; i++) {
    const j = labelOf(table, i, lam);
    labels[i] = j;
    counts[j]++;
    spent += cost[i * stride + j];
    right += acc[i * k + j];
  }
  const view = { lam, labels, counts, cost: spent / n, accuracy: right / n };
  view.mix = mixAt(table.hull, view.cost);
  view.gain = view.accuracy - view.mix;
  return view;
}

function uniformPoints({ n, k, acc, cost, stride }) {
  return Array.from({ length: k }, (_, j) => {
    let spent = 0;
    let right = 0;
    for (let i = 0; i < n; i++) {
      spent += cost[i * stride + j];
      right += acc[i * k + j];
    }
    return { budget: j, cost: spent / n, accuracy: right / n };
  });
}

/** Upper concave envelope of the uniform points, up to the most accurate: what a coin between two budgets reaches. */
function concaveHull(points) {
  const hull = [];
  for (const p of points) {
    const top = hull[hull.length - 1];
    if (top && p.accuracy <= top.accuracy) continue;
    if (top && p.cost === top.cost) hull.pop();
    while (hull.length > 1) {
      const [q, r] = hull.slice(-2);
      if ((r.accuracy - q.accuracy) * (p.cost - r.cost) > (p.accuracy - r.accuracy) * (r.cost - q.cost)) break;
      hull.pop();
    }
    hull.push(p);
  }
  return hull;
}

/** Accuracy of the best mix of uniform budgets that spends at most `cost`. */
function mixAt(hull, cost) {
  for (let h = hull.length - 1; h >= 0; h--) {
    if (hull[h].cost <= cost) {
      const p = hull[h];
      const q = hull[h + 1];
      if (!q) return p.accuracy;
      return p.accuracy + ((q.accuracy - p.accuracy) * (cost - p.cost)) / (q.cost - p.cost);
    }
  }
  return hull[0].accuracy;
}
