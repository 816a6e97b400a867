// The cross-fitted oracle: choose on one half of every question's samples, score on the other, both ways round. The
// rules are those of adalib.held_out for its row "oracle", on the halves of odd and even samples.

const FEWEST = 10; // questions; with fewer there is nothing to be sure of
const DRAWS = 2000; // resamples of the questions, for the interval

/** The tables of both halves, or null where a setting has no samples to split or too few of anything. */
async function buildHalves({ halves, questions, unit }, slices) {
  if (!halves || halves[0].length < FEWEST) return null;
  const samples = (half) => half[0].reduce((sum, x, at) => sum + (at === 0 || at % 2 ? x : 0), 0);
  const budgets = BUDGETS.filter((b) => b <= Math.min(...halves.map(samples)));
  if (budgets.length < 2) return null;
  const tables = [];
  for (const half of halves) {
    const acc = [];
    for (const votes of half) {
      acc.push(...halfAccuracies(votes, budgets));
      if (slices.due) await slices.rest();
    }
    tables.push(build({ budgets: budgets.map(String), cost: budgets, acc, unit }));
  }
  return { tables, member: groupsOf(questions ?? [], halves[0].length) };
}

/** Copies of a question are one unit of the interval; a handful of texts for all is no copying. */
function groupsOf(questions, n) {
  const texts = new Map();
  for (const text of questions) if (!texts.has(text)) texts.set(text, texts.size);
  return texts.size >= FEWEST ? questions.map((text) => texts.get(text)) : Array.from({ length: n }, (_, i) => i);
}

/** Average cost, accuracy and the best mix at that cost, and the gain of every question, for an average cost asked for. */
function crossFit({ tables }, target) {
  const [one, other] = [tables, [...tables].reverse()].map(([choose, score]) => scoreLabels(choose, score, target));
  const mean = (key) => (one[key] + other[key]) / 2;
  return { cost: mean("cost"), accuracy: mean("accuracy"), mix: mean("mix"), gains: one.gains.map((gain, i) => (gain + other.gains[i]) / 2) };
}

function scoreLabels(choose, score, target) {
  const labels = labelsWithin(choose, target);
  const { n, k, acc, cost, hull } = score;
  let spent = 0;
  for (const label of labels) spent += cost[label];
  spent /= n;
  // The bar is the best mix at the cost really had, chosen on the half that scores.
  const last = hull.findLastIndex((p) => p.cost <= spent * (1 + TIE));
  const [low, high] = [hull[Math.max(last, 0)], hull[last + 1] ?? hull[last]];
  const share = high === low ? 0 : (spent - low.cost) / (high.cost - low.cost);
  const gains = new Float64Array(n);
  let right = 0;
  let mixed = 0;
  for (let i = 0; i < n; i++) {
    const mix = (1 - share) * acc[i * k + low.budget] + share * acc[i * k + high.budget];
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

/**
 * Ends of the 95% interval of a mean: weigh the units at random and see how the mean moves. Half an imaginary unit, at
 * the farthest value seen for the lower end and at 1 for the upper, knows of rare gains (evaluate/intervals.py).
 */
async function bootstrapMean(values, slices) {
  const random = dice(1);
  const exponential = () => -Math.log(1 - random());
  const floor = -values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const roof = values.reduce((most, x) => Math.max(most, x), 1);
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const lower = new Float64Array(DRAWS);
  const upper = new Float64Array(DRAWS);
  for (let draw = 0; draw < DRAWS; draw++) {
    let sum = 0;
    let total = 0;
    for (const value of values) {
      const weight = exponential();
      sum += weight * value;
      total += weight;
    }
    const half = exponential() * Math.cos(2 * Math.PI * random()) ** 2; // a gamma of shape 1/2
    lower[draw] = (sum + floor * half) / (total + half);
    upper[draw] = (sum + roof * half) / (total + half);
    if (slices.due) await slices.rest();
  }
  return [Math.min(mean, quantileOf(lower, 0.025)), Math.max(mean, quantileOf(upper, 0.975))];
}

function quantileOf(numbers, q) {
  numbers.sort();
  const at = q * (numbers.length - 1);
  const below = Math.floor(at);
  return numbers[below] + (at - below) * (numbers[Math.min(below + 1, numbers.length - 1)] - numbers[below]);
}

/** Random numbers in [0, 1) that are the same on every visit: a counter, scrambled (mulberry32). */
function dice(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
