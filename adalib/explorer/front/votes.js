// Votes: which answers are the same, and how often the majority of b of them is right.

const BUDGETS = [1, 2, 4, 8, 16];

const answerKey = (value) => {
  const text = String(value ?? "").trim();
  return isNumber(text) ? `#${Number(text)}` : text;
};

/** The answers of one question by class: what it says, its votes and how many are right, in all and in each half. */
function answerClasses({ answers, gold, correct }) {
  const byKey = new Map();
  const goldKey = answerKey(gold);
  const empty = [0, 0];
  answers.forEach((answer, i) => {
    const key = answerKey(answer);
    if (key === "") {
      empty[i % 2]++;
      return;
    }
    const entry = byKey.get(key) ?? { answer: String(answer).trim(), count: 0, right: 0, counts: [0, 0], rights: [0, 0] };
    const right = correct ? Number(correct[i]) : key === goldKey ? 1 : 0;
    entry.count++;
    entry.right += right;
    entry.counts[i % 2]++;
    entry.rights[i % 2] += right;
    byKey.set(key, entry);
  });
  return { classes: [...byKey.values()], empty: empty[0] + empty[1], emptyHalves: empty };
}

/** One half of a question's votes as numbers: [empty, count, right, count, right, ...], as adalib.explorer.setting ships it. */
function halfOf({ classes, emptyHalves }, half) {
  return [emptyHalves[half], ...classes.filter((c) => c.counts[half]).flatMap((c) => [c.counts[half], c.rights[half]])];
}

/** The accuracies that such numbers give. */
function halfAccuracies([empty, ...pairs], budgets) {
  const classes = [];
  for (let i = 0; i < pairs.length; i += 2) classes.push({ count: pairs[i], right: pairs[i + 1] });
  return subsetAccuracies(classes, empty, budgets);
}

/** Top six answers as [answer, count, share right], then how many other answers, their votes, and the empty ones. */
function summariseVotes(classes, empty) {
  const sorted = [...classes].sort((a, b) => b.count - a.count);
  const rest = sorted.slice(6);
  return [sorted.slice(0, 6).map((c) => [c.answer, c.count, c.right / c.count]), rest.length,
    rest.reduce((sum, c) => sum + c.count, 0), empty];
}

const WIDTH = BUDGETS[BUDGETS.length - 1] + 1;
const scratch = new Float64Array(WIDTH * WIDTH); // one for all questions: a new one each time would take most of the time

// Rows of Pascal's triangle, as far right as the largest budget; a missing entry is 0.
const triangle = [Float64Array.of(1, ...new Array(WIDTH - 1).fill(0))];
function choose(n, r) {
  while (triangle.length <= n) {
    const above = triangle[triangle.length - 1];
    triangle.push(above.map((value, at) => value + (at ? above[at - 1] : 0)));
  }
  return triangle[n][r];
}

/**
 * Probability that the majority of b answers drawn without replacement is right, for each b of `budgets`; ties shared
 * equally, empty answers never voting. A class wins with v votes when every other class gets fewer or ties with it.
 */
function subsetAccuracies(classes, empty, budgets) {
  const most = budgets[budgets.length - 1];
  const total = classes.reduce((sum, c) => sum + c.count, empty);
  const wins = new Float64Array(most + 1);
  for (const winner of classes) {
    if (!winner.right) continue;
    const worth = winner.right / winner.count;
    for (let v = 1; v <= Math.min(winner.count, most); v++) {
      const ways = waysBehind(classes, winner, empty, v, most - v);
      for (const b of budgets) {
        if (b < v) continue;
        let shared = 0;
        for (let t = 0; t <= (b - v) / v; t++) shared += ways[t * WIDTH + b - v] / (t + 1);
        wins[b] += worth * choose(winner.count, v) * shared;
      }
    }
  }
  return budgets.map((b) => Math.min(1, wins[b] / choose(total, b)));
}

/** The choices of s other answers in which t classes tie with the winner's v votes and none has more, at t * WIDTH + s. */
function waysBehind(classes, winner, empty, v, size) {
  // A class of fewer than v answers in all can neither tie nor win: with the empty ones they are one heap.
  let heap = empty;
  const rivals = [];
  for (const other of classes) {
    if (other === winner) continue;
    if (other.count < v) heap += other.count;
    else rivals.push(other.count);
  }
  const ways = scratch.fill(0);
  for (let s = 0; s <= size; s++) ways[s] = choose(heap, s);
  for (const count of rivals) {
    const tied = choose(count, v);
    const fewer = triangle[count];
    // From the most answers down, so that what is read has not met this rival yet.
    for (let s = size; s > 0; s--) {
      for (let t = Math.floor(s / v); t >= 0; t--) {
        const at = t * WIDTH + s;
        let sum = ways[at];
        for (let j = Math.min(v - 1, s); j > 0; j--) sum += fewer[j] * ways[at - j];
        if (t) sum += tied * ways[at - WIDTH - v];
        ways[at] = sum;
      }
    }
  }
  return ways;
}
