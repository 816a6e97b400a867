// The cross-fitted oracle: choose on one half of every question's answers, score on the other, both ways round. The
// rules are those of adalib.held_out for its row "oracle", on the halves of odd and even answers.

const FEWEST = 10; // questions; with fewer there is nothing to be sure of

/** The tables of both halves, and any number of answers for everyone on each; null where there is too little to split. */
async function buildHalves({ halves, questions, unit }, slices) {
  if (!halves || halves[0].length < FEWEST) return null;
  const samples = (half) => half[0].reduce((sum, x, at) => sum + (at === 0 || at % 2 ? x : 0), 0);
  const budgets = BUDGETS.filter((b) => b <= Math.min(...halves.map(samples)));
  if (budgets.length < 2) return null;
  const most = Math.min(...halves.map(samples), BUDGETS.at(-1));
  const numbers = Array.from({ length: most }, (_, i) => i + 1); // the bar may give three, which the budgets may not
  const tables = [];
  const bars = [];
  for (const half of halves) {
    const acc = [];
    const any = [];
    for (const votes of half) {
      const each = halfAccuracies(votes, numbers);
      any.push(...each);
      acc.push(...budgets.map((b) => each[b - 1]));
      if (slices.due) await slices.rest();
    }
    tables.push(build({ budgets: budgets.map(String), cost: budgets, acc, unit }));
    bars.push(build({ budgets: numbers.map(String), cost: numbers, acc: any, unit }));
  }
  return { tables, bars, member: groupsOf(questions ?? [], halves[0].length) };
}

/** Copies of a question are one unit of the interval; a handful of texts for all is no copying. */
function groupsOf(questions, n) {
  const texts = new Map();
  for (const text of questions) if (!texts.has(text)) texts.set(text, texts.size);
  return texts.size >= FEWEST ? questions.map((text) => texts.get(text)) : Array.from({ length: n }, (_, i) => i);
}

/** Average cost, accuracy and the same for everyone at that cost, and the gain of every question, for a cost asked for. */
function crossFit({ tables, bars }, target) {
  const [one, other] = [[0, 1], [1, 0]].map(([choose, score]) => scoreLabels(tables[choose], tables[score], bars[score], target));
  const mean = (key) => (one[key] + other[key]) / 2;
  return { cost: mean("cost"), accuracy: mean("accuracy"), mix: mean("mix"), gains: one.gains.map((gain, i) => (gain + other.gains[i]) / 2) };
}

function scoreLabels(choose, { n, k, acc, cost }, bar, target) {
  const labels = labelsWithin(choose, target);
  const { hull } = bar;
  let spent = 0;
  for (const label of labels) spent += cost[label];
  spent /= n;
  // The bar is any number of answers, or two by lot, at the cost really had, chosen on the half that scores.
  const last = hull.findLastIndex((p) => p.cost <= spent * (1 + TIE));
  const [low, high] = [hull[Math.max(last, 0)], hull[last + 1] ?? hull[last]];
  const share = high === low ? 0 : (spent - low.cost) / (high.cost - low.cost);
  const gains = new Float64Array(n);
  let right = 0;
  let mixed = 0;
  for (let i = 0; i < n; i++) {
    const mix = (1 - share) * bar.acc[i * bar.k + low.budget] + share * bar.acc[i * bar.k + high.budget];
    right += acc[i * k + labels[i]];
    mixed += mix;
    gains[i] = acc[i * k + labels[i]] - mix;
  }
  return { cost: spent, accuracy: right / n, mix: mixed / n, gains };
}

/** One value a group, whose mean is the mean over questions and whose spread is that of groups drawn whole. */
function unitsOf(values, member) {
  const n = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / n;
  const excess = new Float64Array(member.reduce((a, b) => Math.max(a, b), 0) + 1);
  values.forEach((value, i) => (excess[member[i]] += value - mean));
  return excess.map((x) => mean + (x * excess.length) / n);
}

/** Ends of Student's 95% interval of a mean gain (mean_interval of evaluate/intervals.py), cut at -1 and 1. */
function meanInterval(values) {
  const n = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / n;
  const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  const half = studentQuantile(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return [Math.max(mean - half, -1), Math.min(mean + half, 1)];
}

/** Student's 97.5% quantile for nine degrees of freedom and more (Cornish and Fisher's expansion, good to 0.0002). */
function studentQuantile(nu) {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * nu) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * nu ** 2) + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * nu ** 3);
}
