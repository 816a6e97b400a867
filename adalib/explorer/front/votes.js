// Votes: which answers are the same, and how often the majority of b of them is right.

const answerKey = (value) => {
  const text = String(value ?? "").trim();
  return isNumber(text) ? `#${Number(text)}` : text;
};

function answerClasses({ answers, gold, correct }) {
  const byKey = new Map();
  const goldKey = answerKey(gold);
  let empty = 0;
  answers.forEach((answer, i) => {
    const key = answerKey(answer);
    if (key === "") {
      empty++;
      return;
    }
    const entry = byKey.get(key) ?? { answer: String(answer).trim(), count: 0, right: 0 };
    entry.count++;
    entry.right += correct ? Number(correct[i]) : key === goldKey ? 1 : 0;
    byKey.set(key, entry);
  });
  return { classes: [...byKey.values()], empty };
}

/** Top six answers as [answer, count, share right], then how many other answers, their votes, and the empty ones. */
function summariseVotes(classes, empty) {
  const sorted = [...classes].sort((a, b) => b.count - a.count);
  const rest = sorted.slice(6);
  return [sorted.slice(0, 6).map((c) => [c.answer, c.count, c.right / c.count]), rest.length,
    rest.reduce((sum, c) => sum + c.count, 0), empty];
}

const choose = (n, r) => {
  let value = 1;
  for (let i = 1; i <= r; i++) value = (value * (n - r + i)) / i;
  return r > n ? 0 : value;
};

/**
 * Probability that the majority of b answers drawn without replacement is right, ties shared equally, empty answers
 * never voting. For a class to win with v votes, every other class gets fewer than v or ties with it; `ways[t][s]`
 * counts the choices of s other answers in which t classes tie.
 */
function subsetAccuracy(classes, empty, b) {
  const total = classes.reduce((sum, c) => sum + c.count, empty);
  let wins = 0;
  for (const winner of classes) {
    if (!winner.right) continue;
    for (let v = 1; v <= Math.min(winner.count, b); v++) {
      const size = b - v;
      const ties = Math.floor(size / v);
      let ways = Array.from({ length: ties + 1 }, () => new Float64Array(size + 1));
      for (let s = 0; s <= size; s++) ways[0][s] = choose(empty, s);
      for (const other of classes) {
        if (other === winner) continue;
        const next = ways.map((row) => new Float64Array(row.length));
        for (let j = 0; j <= Math.min(v, other.count, size); j++) {
          const picks = choose(other.count, j);
          const tie = j === v ? 1 : 0;
          for (let t = tie; t <= ties; t++) for (let s = j; s <= size; s++) next[t][s] += picks * ways[t - tie][s - j];
        }
        ways = next;
      }
      const shared = ways.reduce((sum, row, t) => sum + row[size] / (t + 1), 0);
      wins += (winner.right / winner.count) * choose(winner.count, v) * shared;
    }
  }
  return Math.min(1, wins / choose(total, b));
}
