// The lambda explorer: drag the price of compute and watch who gets how much of it.
//
// One front end, two hosts. A static page inlines this file in a module script and calls mount(); Jupyter loads it
// through anywidget, which calls render(). Nothing here asks the network for anything: the accuracy table is inlined,
// and the oracle is computed in the reader's browser with the same rule, in the same order, as adalib.oracle_labels.
//
//   1  Numbers      how a number is shown, so that Python can print the very same characters
//   2  Oracle       labels at a price, the exact path over all prices, uniform budgets and their best mix
//   3  Files        a reader's own CSV or JSON Lines, read here and never sent anywhere
//   4  Drawing      small helpers for DOM, SVG, scales and colours
//   5  Panels       staircase, frontier, split of the questions, one question
//   6  Explorer     state, sliders, address, keyboard
//   7  Hosts        static page and anywidget

// ---------------------------------------------------------------------------------------------------- 1  Numbers

const SCALE = 1e6; // accuracies travel as integers: millionths
const TIE = 1e-12; // net values this close count as equal, and the cheaper budget wins

/** Round an accuracy to millionths, halves up: the same rule as adalib.explorer.quantise. */
const quantise = (x) => Math.floor(x * SCALE + 0.5) / SCALE;

// Sums taken in another order differ in the sixteenth digit; this keeps a half on the same side in every language.
const steady = (x) => x * (1 + 1e-12);

function fixed(x, digits) {
  const text = steady(x).toFixed(digits);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text;
}

function showPrice(lam) {
  if (lam === 0) return "0";
  return lam >= 1e-4 && lam < 1e4 ? steady(lam).toPrecision(4) : steady(lam).toExponential(3);
}

const minus = (text) => text.replace("-", "\u2212");
const signed = (x, digits) => minus(fixed(x, digits)).replace(/^(?=\d)/, "+");
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const threeDigits = (x) => Number(x.toPrecision(3));

// ----------------------------------------------------------------------------------------------------- 2  Oracle

/** Everything about one setting that does not depend on the price, worked out once. */
function build(setting) {
  const k = setting.budgets.length;
  const n = setting.acc.length / k;
  const acc = Float64Array.from(setting.acc, (v) => v / SCALE);
  const cost = Float64Array.from(setting.cost);
  const stride = cost.length === k ? 0 : k; // one cost vector for all, or a row of costs for each question
  const table = { setting, n, k, acc, cost, stride };
  table.path = exactPath(table);
  table.uniform = uniformPoints(table);
  table.hull = concaveHull(table.uniform);
  table.range = sliderRange(table);
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

/** One row as the price rises: it walks down its upper concave envelope, one [price, from, to] a step. */
function rowSteps(table, row) {
  const { k, acc, cost, stride } = table;
  const a = row * k;
  const c = row * stride;
  const steps = [];
  for (let at = labelOf(table, row, 0); at > 0; ) {
    let next = -1;
    let price = Infinity;
    for (let j = 0; j < at; j++) {
      const saved = cost[c + at] - cost[c + j];
      if (saved <= 0) continue; // same cost and less accurate: never better
      const slope = (acc[a + at] - acc[a + j]) / saved;
      if (slope < price) {
        price = slope;
        next = j;
      }
    }
    if (next < 0) break;
    steps.push([price, at, next]);
    at = next;
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

/** How many questions are at each budget, at some points of the path (in rising order): the steps played again. */
function splitsAt({ start, events, used }, points) {
  const split = start.slice();
  let done = 0;
  return points.map((point) => {
    for (; done < used[point]; done++) {
      split[events[done].from]--;
      split[events[done].to]++;
    }
    return split.slice();
  });
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
  return { lam: path.lam[low], cost: path.cost[low], fit, slack: exact ? 0 : slack, above: path.cost[low - 1] };
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

// ------------------------------------------------------------------------------------------------------ 3  Files

const BUDGETS = [1, 2, 4, 8, 16];

class BadFile extends Error {}

/** A file the reader dropped, as a setting. Throws BadFile with one clear line. */
async function readFile(file) {
  const gz = /\.gz$/i.test(file.name);
  let text;
  try {
    text = await (gz ? new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))) : file).text();
  } catch {
    throw new BadFile(`${file.name}: cannot be read${gz ? "; is it really a gzip file?" : "."}`);
  }
  return parse(file.name, text.replace(/^\ufeff/, ""));
}

function parse(name, text) {
  if (!text.trim()) throw new BadFile(`${name}: the file is empty.`);
  const setting = /^\s*\{/.test(text) ? parseJsonLines(name, text) : parseCsv(name, text);
  return { ...setting, name: "yours", title: name, kind: "yours", estimated: true };
}

/** Accuracies: a header of costs (an id column may come first), then one row a question. */
function parseCsv(name, text) {
  const rows = csvRows(text);
  const header = rows[0].cells;
  const hasId = header.length > 1 && !isNumber(header[0]);
  const costs = header.slice(hasId ? 1 : 0).map((cell, j) => {
    if (!isNumber(cell) || Number(cell) < 0)
      throw new BadFile(`${name}, line 1: column ${j + 1 + hasId} is headed "${clip(cell)}"; ` +
        "head every accuracy column with its cost, a number >= 0.");
    return Number(cell);
  });
  costs.forEach((c, j) => {
    if (j && c < costs[j - 1]) throw new BadFile(`${name}, line 1: cost ${c} comes after ${costs[j - 1]}; sort the columns by cost.`);
  });
  if (rows.length < 2) throw new BadFile(`${name}: there is a header but no row of accuracies below it.`);
  const ids = [];
  const acc = [];
  rows.slice(1).forEach(({ cells, line }, i) => {
    if (cells.length !== header.length)
      throw new BadFile(`${name}, line ${line}: ${plural(cells.length, "cell")} where the header has ${header.length}.`);
    ids.push(hasId ? cells[0] : String(i));
    cells.slice(hasId ? 1 : 0).forEach((cell, j) => {
      const value = isNumber(cell) ? Number(cell) : NaN;
      if (!(value >= 0 && value <= 1))
        throw new BadFile(`${name}, line ${line}, column "${header[j + hasId]}": "${clip(cell)}" is not an accuracy between 0 and 1.`);
      acc.push(Math.round(quantise(value) * SCALE));
    });
  });
  return { budgets: header.slice(hasId ? 1 : 0).map((b) => b.trim()), cost: costs, acc, ids, unit: "cost" };
}

function csvRows(text) {
  const rows = [];
  let cells = [];
  let cell = "";
  let quoted = false;
  let line = 1;
  let start = 1;
  const endRow = () => {
    cells.push(cell);
    if (cells.length > 1 || cells[0].trim()) rows.push({ cells, line: start });
    cells = [];
    cell = "";
    start = line;
  };
  for (let i = 0; i < text.length; i++) {
    const ch = text[i];
    if (ch === "\n") line++;
    if (quoted) {
      if (ch !== '"') cell += ch;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (ch === '"' && !cell) quoted = true;
    else if (ch === ",") {
      cells.push(cell);
      cell = "";
    } else if (ch === "\n") endRow();
    else if (ch !== "\r") cell += ch;
  }
  if (cell || cells.length) endRow();
  return rows;
}

/** Sampled answers, one question a line: the page counts the votes itself, over all subsets, ties shared. */
function parseJsonLines(name, text) {
  const questions = [];
  const seen = new Map();
  text.split("\n").forEach((raw, i) => {
    if (!raw.trim()) return;
    const bad = (what) => new BadFile(`${name}, line ${i + 1}: ${what}`);
    let record;
    try {
      record = JSON.parse(raw);
    } catch {
      throw bad("is not JSON; write one object a line.");
    }
    for (const field of ["id", "question", "gold", "answers"])
      if (record?.[field] === undefined) throw bad(`has no "${field}"; every line needs id, question, gold, answers.`);
    const { id, gold, answers, correct } = record;
    if (!Array.isArray(answers) || !answers.length) throw bad('"answers" must be a list with one answer a sample.');
    const odd = answers.findIndex((answer) => typeof answer !== "string" && typeof answer !== "number");
    if (odd >= 0) throw bad(`"answers"[${odd}] must be a text in quotes, or a number.`);
    const first = questions[0]?.answers.length ?? answers.length;
    if (answers.length !== first)
      throw bad(`has ${plural(answers.length, "answer")}, an earlier line has ${first}; give every question equally many.`);
    if (correct && (!Array.isArray(correct) || correct.length !== first || correct.some((c) => c !== 0 && c !== 1)))
      throw bad(`"correct" must hold 0 or 1 for each of the ${first} answers.`);
    if (!correct && !String(gold ?? "").trim()) throw bad('"gold" is empty; give the right answer, or "correct" for every sample.');
    if (seen.has(String(id))) throw bad(`id "${clip(String(id))}" is already on line ${seen.get(String(id))}; give it another.`);
    seen.set(String(id), i + 1);
    questions.push(record);
  });
  const budgets = BUDGETS.filter((b) => b <= questions[0].answers.length);
  const acc = [];
  const votes = [];
  for (const q of questions) {
    const { classes, empty } = answerClasses(q);
    for (const b of budgets) acc.push(Math.round(quantise(subsetAccuracy(classes, empty, b)) * SCALE));
    votes.push(summariseVotes(classes, empty));
  }
  const has = (value) => value !== undefined && value !== null;
  return {
    budgets: budgets.map(String), cost: budgets, acc, votes, unit: "samples",
    ids: questions.map((q) => String(q.id)),
    questions: questions.map((q) => String(q.question)),
    golds: questions.map((q) => String(q.gold ?? "")),
    levels: questions.some((q) => has(q.level)) ? questions.map((q) => (has(q.level) ? String(q.level) : "")) : undefined,
    about: "Two answers count as the same when they are the same text, or the same number, after trimming spaces.",
  };
}

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

const isNumber = (text) => /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text);
const clip = (text, length = 40) => (text.length > length ? text.slice(0, length - 1) + "\u2026" : text);

// ---------------------------------------------------------------------------------------------------- 4  Drawing

/** An HTML element. Text only ever enters through textContent, so that a question can hold any characters. */
function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
}

function s(parent, tag, attributes = {}, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

const set = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
};

const paintOf = (budget) => `fill:var(--ax-b${budget})`;

const nameOn = (svg, x, y, text, { on }) => s(svg, "text", { x, y, class: "ax-name", "text-anchor": "middle", style: `fill:${on}` }, text);

function numberTable(heads, body) {
  const row = h("tr", {}, ...heads.map((text) => h("th", { scope: "col", text })));
  return h("div", { class: "ax-scroll" }, h("table", { class: "ax-table" }, h("thead", {}, row), body));
}

const rowHead = (budget, name) => h("th", { scope: "row" }, h("i", { class: "ax-chip", style: `background:var(--ax-b${budget})` }), name);

// Cheap budgets stay close to the page, dear ones stand out; lightness alone tells them apart, whatever the eye.
const RAMP = {
  light: ["#d8e1e8", "#9fd0c4", "#47a3a6", "#2b6a9c", "#43246f"],
  dark: ["#3b4754", "#3f7da6", "#42b0a2", "#a2d882", "#fbe65c"],
};

function ramp(count, theme) {
  const stops = RAMP[theme].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return Array.from({ length: count }, (_, i) => {
    const t = (count > 1 ? i / (count - 1) : 0.5) * (stops.length - 1);
    const at = Math.min(stops.length - 2, Math.floor(t));
    const rgb = stops[at].map((low, c) => Math.round(low + (t - at) * (stops[at + 1][c] - low)));
    const light = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 140;
    const pixel = 0xff000000 + (rgb[2] << 16) + (rgb[1] << 8) + rgb[0];
    return { fill: `rgb(${rgb.join(",")})`, on: light ? "#16202b" : "#ffffff", pixel };
  });
}

const linear = (d0, d1, r0, r1) => {
  const span = d1 - d0 || 1;
  const scale = (x) => r0 + ((x - d0) / span) * (r1 - r0);
  scale.invert = (p) => d0 + ((p - r0) / (r1 - r0)) * span;
  return scale;
};

const logarithmic = (d0, d1, r0, r1) => {
  const inner = linear(Math.log(d0), Math.log(d1), r0, r1);
  const scale = (x) => inner(Math.log(x));
  scale.invert = (p) => Math.exp(inner.invert(p));
  return scale;
};

/** Prices: a short linear stretch from 0 to the first decade, then logarithmic, so that "free" is on the axis. */
function priceScale({ low, high }, r0, r1) {
  const join = r0 + Math.min(34, (r1 - r0) * 0.1);
  const log = logarithmic(low, high, join, r1);
  const scale = (x) => (x < low ? r0 + ((join - r0) * x) / low : Math.min(r1, log(x)));
  scale.invert = (p) => (p <= r0 + (join - r0) / 2 ? 0 : Math.max(low, log.invert(Math.min(p, r1))));
  scale.ticks = [0];
  const decades = Math.round(Math.log10(high / low));
  for (let d = 0; d <= decades; d++) scale.ticks.push(low * 10 ** d);
  return scale;
}

const showTick = (x) => {
  if (x === 0) return "0";
  const power = Math.round(Math.log10(x));
  return power < -4 || power > 4 ? `1e${power}` : String(Number(x.toPrecision(1)));
};

function niceTicks(low, high, count) {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((x) => x >= rough);
  const ticks = [];
  for (let x = Math.ceil(low / step - 1e-9); x * step <= high + step * 1e-9; x++) ticks.push(x * step);
  const digits = clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 12);
  return ticks.map((value) => ({ value, text: digits > 4 ? String(threeDigits(value)) : value.toFixed(digits) }));
}

/** Axes: light rules, ticks, the vertical label on top where it can be read without turning the head. */
function axes(svg, box, { x, y, xTicks, yTicks, xLabel, yLabel }) {
  const g = s(svg, "g", { class: "ax-axes" });
  for (const { value, text } of yTicks) {
    const at = y(value);
    s(g, "line", { x1: box.left, x2: box.right, y1: at, y2: at });
    s(g, "text", { x: box.left - 6, y: at + 4, "text-anchor": "end" }, text);
  }
  s(g, "line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, class: "ax-base" });
  let taken = -Infinity;
  for (const { value, text } of xTicks) {
    const at = x(value);
    s(g, "line", { x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4, class: "ax-base" });
    if (at - taken < text.length * 3.6 + 14) continue;
    s(g, "text", { x: at, y: box.bottom + 16, "text-anchor": "middle" }, text);
    taken = at + text.length * 3.6;
  }
  s(g, "text", { x: box.right, y: box.bottom + 32, "text-anchor": "end", class: "ax-label" }, xLabel);
  s(g, "text", { x: 0, y: 11, class: "ax-label" }, yLabel);
}

/** A point that moves, with its guide lines and a label on the side where the curve leaves room. */
function marker(svg) {
  const guide = s(svg, "path", { class: "ax-guide" });
  const dot = s(svg, "circle", { r: 6, class: "ax-now" });
  const text = s(svg, "text", { class: "ax-nowtext" });
  return (box, px, py, label, path, side) => {
    set(guide, { d: path });
    set(dot, { cx: px, cy: py });
    text.textContent = label;
    const room = label.length * 7.2;
    const right = side === "right" ? px + 10 + room < box.right : px - 10 - room < 0;
    set(text, { x: px + (right ? 10 : -10), y: clamp(py - 10, box.top + 4, box.bottom - 6), "text-anchor": right ? "start" : "end" });
  };
}

/** Path points as seen on screen: of the points that share half a pixel, the last. */
function onScreen(prices, x) {
  const columns = [];
  prices.forEach((price, at) => {
    const px = Math.round(x(price) * 2) / 2;
    if (columns.length && columns[columns.length - 1].px === px) columns[columns.length - 1].at = at;
    else columns.push({ px, at });
  });
  return columns;
}

function draggable(svg, onMove) {
  const at = (event) => {
    const rect = svg.getBoundingClientRect();
    onMove(event.clientX - rect.left, event.clientY - rect.top);
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    svg.setPointerCapture(event.pointerId);
    at(event);
  });
  svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && at(event));
}

function figure(title, hint) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("role", "img");
  const node = h("figure", { class: "ax-panel" }, h("figcaption", {}, h("strong", { text: title }), h("span", { text: hint })));
  node.append(svg);
  return { node, svg };
}

// ----------------------------------------------------------------------------------------------------- 5  Panels
//
// A panel has a node, layout(context) that draws what does not move, and move(context, view) that follows the price.
// A context holds the table, the panel's width, the colours and the state.

/** Panel 1: average cost against price. */
function staircasePanel(act) {
  const { node, svg } = figure("Raise the price and spending falls, in steps", "What the oracle spends at each price. Drag the point.");
  node.classList.add("ax-drag");
  let box, x, y, place, asked;
  draggable(svg, (px) => act.price(threeDigits(x.invert(px))));
  return {
    node,
    layout({ table, width }) {
      const { path, range } = table;
      const height = 250;
      box = { left: 46, right: width - 12, top: 26, bottom: height - 38 };
      svg.replaceChildren();
      set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
      const top = path.cost[0];
      const floor = range.cheapest;
      const pad = (top - floor || top || 1) * 0.06;
      x = priceScale(range, box.left + 8, box.right);
      y = linear(floor - pad, top + pad, box.bottom, box.top);
      axes(svg, box, {
        x, y,
        xTicks: x.ticks.map((value) => ({ value, text: showTick(value) })),
        yTicks: niceTicks(floor, top, 5),
        xLabel: `price \u03bb (accuracy per ${table.per}, log scale)`,
        yLabel: `average cost (${table.units})`,
      });
      asked = s(svg, "line", { class: "ax-asked", x1: box.left, x2: box.right });
      let d = "";
      let last;
      for (const { px, at } of onScreen(path.lam, x)) {
        const py = y(path.cost[at]).toFixed(1);
        d += d ? `H${px}V${py}` : `M${px} ${py}`;
        last = py;
      }
      s(svg, "path", { class: "ax-line", d: d + `H${box.right}V${last}` });
      place = marker(svg);
    },
    move({ table, state }, view) {
      const px = x(view.lam);
      const py = y(view.cost);
      const show = state.budget !== null && state.budget >= y.invert(box.bottom) && state.budget <= y.invert(box.top);
      set(asked, { y1: show ? y(state.budget) : 0, y2: show ? y(state.budget) : 0, visibility: show ? "visible" : "hidden" });
      place(box, px, py, fixed(view.cost, table.range.digits), `M${px} ${box.bottom}V${py}H${box.left}`, "right");
      svg.setAttribute("aria-label", `Average cost against price, a falling staircase from ` +
        `${fixed(table.path.cost[0], table.range.digits)} at price 0 to ${fixed(table.range.cheapest, table.range.digits)}. At price ${showPrice(view.lam)} the oracle spends ` +
        `${fixed(view.cost, table.range.digits)} ${table.units} a question.`);
    },
  };
}

/** Panel 2: accuracy against average cost. */
function frontierPanel(act) {
  const { node, svg } = figure("Steered, the same spend buys more", "Oracle against uniform budgets and their best mix.");
  node.classList.add("ax-drag");
  let box, x, y, place, gain, snap;
  draggable(svg, (px) => act.budget(snap(x.invert(px))));
  return {
    node,
    layout({ table, width }) {
      const { path, uniform, hull, range } = table;
      const height = 250;
      box = { left: 46, right: width - 14, top: 26, bottom: height - 38 };
      svg.replaceChildren();
      set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
      const low = Math.min(range.cheapest, ...uniform.map((p) => p.cost));
      const high = Math.max(path.cost[0], ...uniform.map((p) => p.cost));
      const log = low > 0 && high / low >= 4;
      const all = [...uniform.map((p) => p.accuracy), path.accuracy[0], path.accuracy[path.accuracy.length - 1]];
      const worst = Math.min(...all);
      const best = Math.max(...all);
      const pad = Math.max(0.012, (best - worst) * 0.14);
      x = (log ? logarithmic : linear)(low, high === low ? low + 1 : high, box.left + 12, box.right - 10);
      y = linear(worst - 2 * pad, best + pad, box.bottom, box.top);
      snap = (value) => Number(clamp(value, range.cheapest, range.budgetHigh).toFixed(range.budgetDigits));
      const costs = uniform.map((p) => ({ value: p.cost, text: String(threeDigits(p.cost)) }));
      const ticks = log && uniform.length < 9 ? costs : niceTicks(low, high, 5);
      axes(svg, box, {
        x, y, xTicks: ticks, yTicks: niceTicks(worst - pad, best + pad / 2, 5),
        xLabel: `average cost (${table.units}${log ? ", log scale" : ""})`, yLabel: "accuracy",
      });
      // Straight lines bend on a log axis: draw them in small pieces.
      const line = (points) => points.map((p, i) => {
        const q = points[i + 1] ?? p;
        const pieces = log && points.length < 60 ? 12 : 1;
        return Array.from({ length: pieces }, (_, t) => {
          const f = t / pieces;
          return `${x(p.cost + f * (q.cost - p.cost)).toFixed(1)} ${y(p.accuracy + f * (q.accuracy - p.accuracy)).toFixed(1)}`;
        }).join("L");
      }).join("L");
      const top = hull[hull.length - 1];
      s(svg, "path", { class: "ax-mix", d: `M${line([...hull, { cost: Math.max(high, top.cost), accuracy: top.accuracy }])}` });
      const seen = onScreen(path.cost, x);
      const curve = seen.map(({ at }) => ({ cost: path.cost[at], accuracy: path.accuracy[at] }));
      s(svg, "path", { class: "ax-rest", d: `M${x(path.cost[0])} ${y(path.accuracy[0])}H${x(high)}` });
      s(svg, "path", { class: "ax-line ax-oracle", d: `M${line(curve)}` });
      // Names go where there is room: `taken` holds the middle and half the width of what is there already.
      const taken = uniform.map((p) => [x(p.cost), y(p.accuracy) + 4, 8]);
      const write = (px, py, text, name = "") => {
        const half = text.length * 3.3;
        const middle = clamp(px, box.left + half - 20, box.right + 8 - half);
        if (taken.some(([qx, qy, other]) => Math.abs(middle - qx) < half + other + 2 && Math.abs(py - qy) < 13)) return false;
        taken.push([middle, py, half]);
        return s(svg, "text", { x: middle, y: py, class: `ax-name ax-halo ${name}`, "text-anchor": "middle" }, text);
      };
      const end = { cost: high, accuracy: path.accuracy[0] };
      const named = ({ cost, accuracy }, off) => write(x(cost) + off, y(accuracy) - 8, "oracle", "ax-oracle");
      if (path.events.length && !named(end, 0)) [0.4, 0.6, 0.2].some((f) => named(curve[Math.floor(f * curve.length)], -24));
      for (const p of uniform) {
        const px = x(p.cost);
        const py = y(p.accuracy);
        s(svg, "path", { d: `M${px - 7} ${py}l7 -7l7 7l-7 7Z`, class: "ax-uniform", style: paintOf(p.budget) });
        write(px, py + 21, `all ${clip(table.setting.budgets[p.budget], 8)}`);
      }
      // The mix is named on the longest of its segments that has room.
      const segments = hull.slice(1).map((q, i) => [x(hull[i].cost), x(q.cost)]).sort((p, q) => q[1] - q[0] - (p[1] - p[0]));
      segments.some(([from, to]) => [20, -8].some((off) => {
        const px = (from + to) / 2;
        return write(px, y(mixAt(hull, x.invert(px))) + off, "best mix");
      }));
      gain = s(svg, "path", { class: "ax-gain" });
      place = marker(svg);
    },
    move({ table }, view) {
      const px = x(view.cost);
      const py = y(view.accuracy);
      const my = y(view.mix);
      set(gain, { d: `M${px} ${my}V${py}M${px - 4} ${my}h8` });
      place(box, px, py, signed(view.gain, 4), "", "left");
      svg.setAttribute("aria-label", "Accuracy against average cost. " +
        `At ${fixed(view.cost, table.range.digits)} ${table.units} the oracle reaches ` +
        `${fixed(view.accuracy, 4)}, the best mix of uniform budgets ${fixed(view.mix, 4)}. Uniform budgets: ` +
        table.uniform.map((p) => `${table.setting.budgets[p.budget]} gives ${fixed(p.accuracy, 3)}`).join(", ") + ".");
    },
  };
}

/** Panel 3: how the questions split over the budgets, over all prices and now, question by question. */
function splitPanel(act) {
  const { node, svg } = figure("Dearer compute has fewer takers", "Share of questions at each budget. Drag the line.");
  svg.classList.add("ax-dragx");
  const map = h("canvas", { class: "ax-map", role: "img" });
  const ring = h("div", { class: "ax-ring", "aria-hidden": "true" });
  const mapTitle = h("p", { class: "ax-sub" });
  const body = h("tbody");
  const shares = numberTable(["budget", "questions", "share"], body);
  node.append(mapTitle, h("div", { class: "ax-mapbox" }, map, ring), shares);
  let box, x, cursor, cell, columns, image, pixels, rows, position;
  draggable(svg, (px) => act.price(threeDigits(x.invert(px))));
  map.addEventListener("pointerdown", (event) => {
    const rect = map.getBoundingClientRect();
    const column = Math.min(columns - 1, Math.floor((event.clientX - rect.left) / cell));
    act.pickAt(Math.floor((event.clientY - rect.top) / cell) * columns + column);
  });
  return {
    node,
    layout(context) {
      const { table, width, colours } = context;
      const { path, k, n } = table;
      const height = 210;
      box = { left: 46, right: width - 12, top: 26, bottom: height - 38 };
      svg.replaceChildren();
      set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
      x = priceScale(table.range, box.left + 8, box.right);
      const y = linear(0, n, box.bottom, box.top);
      axes(svg, box, {
        x, y,
        xTicks: x.ticks.map((value) => ({ value, text: showTick(value) })),
        yTicks: [0, 0.5, 1].map((value) => ({ value: value * n, text: `${value * 100}%` })),
        xLabel: "price \u03bb (log scale)", yLabel: "share of questions",
      });
      const seen = onScreen(path.lam, x);
      const heights = splitsAt(path, seen.map(({ at }) => at)).map((counts) => {
        let sum = 0;
        return counts.map((count) => (sum += count));
      });
      for (let j = 0; j < k; j++) {
        let up = "";
        let down = "";
        seen.forEach(({ px }, i) => {
          const to = seen[i + 1]?.px ?? box.right;
          const high = y(heights[i][j]).toFixed(1);
          const low = y(j ? heights[i][j - 1] : 0).toFixed(1);
          up += `${i ? "V" : `M${px} `}${high}H${to}`;
          down = `V${low}H${px}` + down;
        });
        s(svg, "path", { d: `${up}${down}Z`, class: "ax-area", style: paintOf(j) });
      }
      areaNames(svg, { box, y, k, seen, heights, colours, names: table.setting.budgets });
      cursor = s(svg, "line", { class: "ax-cursor", y1: box.top - 4, y2: box.bottom });

      cell = clamp(Math.floor(Math.sqrt((width * 200) / n)), 2, 22);
      columns = Math.max(1, Math.floor(width / cell));
      // One pixel a question, scaled up by the style sheet; the lines between the squares are laid over it.
      map.width = columns;
      map.height = Math.ceil(n / columns);
      const size = `width:${columns * cell}px;height:${map.height * cell}px`;
      set(map.parentNode, { style: `${size};--ax-cell:${cell}px;--ax-gap:${cell > 4 ? 1 : 0}px` });
      image = new ImageData(map.width, map.height);
      pixels = new Uint32Array(image.data.buffer);
      position = new Uint32Array(n);
      path.held.forEach((row, at) => (position[row] = at));
      mapTitle.textContent = `Each square is one of the ${plural(n, "question")}, those that hold on longest first. Click one.`;
      body.replaceChildren();
      rows = table.setting.budgets.map((budget, j) => {
        const count = h("td");
        const share = h("td");
        body.append(h("tr", {}, rowHead(j, budget), count, share));
        return { count, share };
      });
    },
    move({ table, state, colours }, view) {
      const { n, k } = table;
      const px = x(view.lam);
      set(cursor, { x1: px, x2: px });
      for (let at = 0; at < n; at++) pixels[at] = colours[view.labels[table.path.held[at]]].pixel;
      map.getContext("2d").putImageData(image, 0, 0);
      const at = position[state.selected];
      const place = `left:${(at % columns) * cell - 2}px;top:${Math.floor(at / columns) * cell - 2}px`;
      set(ring, { style: `${place};width:${cell + 3}px;height:${cell + 3}px` });
      const said = [];
      for (let j = 0; j < k; j++) {
        const share = `${fixed((100 * view.counts[j]) / n, 1)}%`;
        rows[j].count.textContent = view.counts[j];
        rows[j].share.textContent = share;
        if (view.counts[j]) said.push(`${share} at budget ${table.setting.budgets[j]}`);
      }
      const text = `At price ${showPrice(view.lam)}: ${said.join(", ")}.`;
      svg.setAttribute("aria-label", `Share of questions at each budget against price. ${text}`);
      map.setAttribute("aria-label", `One square for each question, coloured by its budget. ${text}`);
    },
  };
}

/** Write each budget into its area where the area is thickest, if it is thick enough to hold a word. */
function areaNames(svg, { box, y, k, seen, heights, colours, names }) {
  for (let j = 0; j < k; j++) {
    const band = (px) => {
      let i = seen.length - 1;
      while (i > 0 && seen[i].px > px) i--;
      return [y(heights[i][j]), y(j ? heights[i][j - 1] : 0)];
    };
    let best = { room: 0 };
    for (let px = box.left + 22; px < box.right - 16; px += 6) {
      const bands = [band(px - 12), band(px), band(px + 12)];
      const top = Math.max(...bands.map((b) => b[0]));
      const bottom = Math.min(...bands.map((b) => b[1]));
      if (bottom - top > best.room) best = { room: bottom - top, px, py: (top + bottom) / 2 };
    }
    if (best.room > 13) nameOn(svg, best.px, best.py + 4, clip(names[j], 8), colours[j]);
  }
}

/** Panel 4: one question, its votes, its curve, and what each budget is worth at this price. */
function questionPanel(act) {
  const { node, svg } = figure("One question: what each budget is worth", "Hollow: accuracy. Filled: what is left after paying.");
  const search = h("input", { type: "search", placeholder: "Search the questions", autocomplete: "off" });
  search.setAttribute("aria-label", "Search the questions by text, id or answer");
  const previous = h("button", { type: "button", "aria-label": "Previous question", text: "\u2190" });
  const next = h("button", { type: "button", "aria-label": "Next question", text: "\u2192" });
  const found = h("ul", { class: "ax-found", hidden: true });
  const title = h("p", { class: "ax-qid" });
  const text = h("blockquote");
  const gold = h("p", { class: "ax-gold" });
  const votes = h("ol", { class: "ax-votes" });
  const strip = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  strip.setAttribute("role", "img");
  const body = h("tbody");
  const values = numberTable(["budget", "accuracy", "price paid", "net value"], body);
  svg.before(h("div", { class: "ax-pick" }, search, previous, next), found, title, text, gold, votes);
  node.append(values, h("p", { class: "ax-sub", text: "The budget this question gets, as the price rises:" }), strip);

  previous.addEventListener("click", () => act.pickStep(-1));
  next.addEventListener("click", () => act.pickStep(1));
  const close = () => found.replaceChildren() || (found.hidden = true);
  search.addEventListener("input", () => {
    found.replaceChildren(...act.find(search.value).map(({ row, label }) => {
      const button = h("button", { type: "button", text: label });
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

  let box, x, y, floor, stripX, cursor, winner, shown, bars;

  /** Axes that fit the question's own curve; a net value below the floor is off the chart, and says so. */
  function drawScale({ setting, acc, k }, row) {
    const curve = acc.subarray(row * k, row * k + k);
    floor = Math.max(-0.25, Math.min(...curve) - 0.35);
    const top = Math.max(...curve) + 0.1;
    svg.replaceChildren();
    x = linear(-0.5, k - 0.5, box.left, box.right);
    y = linear(floor, top, box.bottom, box.top);
    axes(svg, box, {
      x, y,
      xTicks: setting.budgets.map((budget, value) => ({ value, text: clip(budget, 8) })),
      yTicks: niceTicks(floor, Math.min(1, top), 4),
      xLabel: "budget", yLabel: "net value f = accuracy \u2212 \u03bb \u00d7 cost",
    });
    const step = x(1) - x(0);
    winner = s(svg, "g", { class: "ax-winner" });
    s(winner, "line", { x1: box.left, x2: box.right });
    bars.forEach((bar, j) => {
      bar.dot = Math.min(6, 0.3 * step);
      bar.stem = s(svg, "line", { class: "ax-stem", x1: x(j), x2: x(j) });
      s(svg, "circle", { class: "ax-acc", r: bar.dot, cx: x(j), cy: y(curve[j]) });
      bar.net = s(svg, "path", { class: "ax-net", style: paintOf(j) });
    });
    s(winner, "circle", { r: Math.min(10, 0.45 * step) });
    s(winner, "text", { "text-anchor": "middle" });
    svg.append(winner);
  }

  /** What changes with the question, not with the price. */
  function describe({ table, state }) {
    const { setting } = table;
    const row = state.selected;
    const id = String(setting.ids?.[row] ?? row);
    title.textContent = `Question ${id}` + (setting.levels?.[row] ? ` \u00b7 level ${setting.levels[row]}` : "");
    text.textContent = setting.questions?.[row] ?? "";
    text.hidden = !text.textContent;
    gold.textContent = setting.golds?.[row] ? `Right answer: ${setting.golds[row]}` : "";
    gold.hidden = !gold.textContent;
    votes.replaceChildren();
    const cast = setting.votes?.[row];
    votes.hidden = !cast;
    if (cast) {
      const [top, others, otherVotes, empty] = cast;
      const most = Math.max(1, ...top.map((v) => v[1]), otherVotes, empty);
      const bar = (label, count, share) => {
        const meter = h("i", { style: `width:${(100 * count) / most}%` });
        const tally = h("span", { text: `${count}${share > 0 ? " \u2713" : ""}`, title: share > 0 ? "right" : "wrong" });
        const name = h("span", { text: label, title: label });
        votes.append(h("li", { class: share > 0 ? "ax-right" : "" }, name, h("span", { class: "ax-bar" }, meter), tally));
      };
      top.forEach(([answer, count, share]) => bar(answer, count, share));
      if (others) bar(`${plural(others, "other answer")}`, otherVotes, 0);
      if (empty) bar("no answer read", empty, 0);
      votes.setAttribute("aria-label", "Votes: " + top.map(([a, c, share]) => `${a} ${c}${share > 0 ? " (right)" : ""}`).join(", "));
    }
    drawScale(table, row);
    strip.replaceChildren();
    const width = Number(strip.getAttribute("width"));
    stripX = priceScale(table.range, 1, width - 1);
    const runs = [{ from: 0, label: labelOf(table, row, 0) }, ...rowSteps(table, row).map(([from, , label]) => ({ from, label }))];
    runs.forEach((run, i) => {
      const from = stripX(run.from);
      const to = i + 1 < runs.length ? stripX(runs[i + 1].from) : width - 1;
      s(strip, "rect", { x: from, y: 2, width: Math.max(0, to - from), height: 22, class: "ax-area", style: paintOf(run.label) });
      if (to - from > 22) nameOn(strip, (from + to) / 2, 17, clip(setting.budgets[run.label], 6), bars[run.label]);
    });
    cursor = s(strip, "line", { class: "ax-cursor", y1: 0, y2: 26 });
    strip.setAttribute("aria-label", "Budget of this question as the price rises: " +
      runs.map((run) => `${setting.budgets[run.label]} from price ${showPrice(run.from)}`).join(", ") + ".");
    shown = row;
  }

  return {
    node,
    layout(context) {
      const { table, width, colours } = context;
      const { setting } = table;
      const height = 220;
      box = { left: 46, right: width - 12, top: 26, bottom: height - 38 };
      set(svg, { width, height, viewBox: `0 0 ${width} ${height}` });
      set(strip, { width, height: 26, viewBox: `0 0 ${width} 26` });
      bars = setting.budgets.map((_, j) => ({ on: colours[j].on }));
      body.replaceChildren();
      bars.forEach((bar, j) => {
        bar.cells = ["accuracy", "paid", "net"].map((key) => h("td", { "data-value": key }));
        bar.row = h("tr", {}, rowHead(j, setting.budgets[j]), ...bar.cells);
        body.append(bar.row);
      });
      shown = -1;
    },
    move(context, view) {
      const { table, state } = context;
      const { setting, k, acc, cost, stride } = table;
      if (shown !== state.selected) describe(context);
      const row = state.selected;
      const won = view.labels[row];
      const said = [];
      bars.forEach((bar, j) => {
        const accuracy = acc[row * k + j];
        const paid = view.lam * cost[row * stride + j];
        const net = accuracy - paid;
        const off = net < floor;
        const px = x(j);
        const py = y(Math.max(net, floor));
        const r = bar.dot;
        set(bar.stem, { y1: y(accuracy), y2: py });
        // A circle where the net value is; a triangle pointing down where it is off the chart.
        const circle = `M${px - r} ${py}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
        set(bar.net, { d: off ? `M${px - r} ${py - r - 2}h${2 * r}l${-r} ${r}Z` : circle });
        [fixed(accuracy, 4), fixed(paid, 4), minus(fixed(net, 4))].forEach((value, c) => (bar.cells[c].textContent = value));
        bar.row.className = j === won ? "ax-won" : "";
        said.push(`budget ${setting.budgets[j]} ${fixed(net, 3)}`);
        if (j === won) {
          const [rule, ring, label] = winner.children;
          set(rule, { y1: py, y2: py });
          set(ring, { cx: px, cy: py });
          set(label, { x: clamp(px, box.left + 28, box.right - 28), y: y(accuracy) - 14 });
          label.textContent = `winner: ${clip(setting.budgets[j], 8)}`;
        }
      });
      set(cursor, { x1: stripX(view.lam), x2: stripX(view.lam) });
      svg.setAttribute("aria-label", `Net values at price ${showPrice(view.lam)}: ${said.join(", ")}. ` +
        `The winner is budget ${setting.budgets[won]}.`);
    },
  };
}

// --------------------------------------------------------------------------------------------------- 6  Explorer

const STEPS = 400; // positions of the price slider; 0 is free
const DROP = "or drop a CSV of accuracies or a JSON Lines of answers here. It is read on this page and never sent.";
const OPTIMISTIC = "Chosen and scored on the same samples: optimistic; see chapter 5.";
let serial = 0;

/**
 * Put an explorer into `root`. `settings` is a list as made by adalib.explorer.setting; `host` may give start values
 * (lam, budget, selected), `files: false` to leave out the reader's own files, `address: false` to leave the page's
 * address alone, and `changed(state)`, called after every move. Returns { state, set, destroy }.
 */
export function mount(root, settings, host = {}) {
  const uid = `ax${++serial}-${Math.random().toString(36).slice(2, 7)}`;
  const tables = settings.map(() => null);
  settings = [...settings];
  const state = { at: 0, lam: 0, budget: null, selected: 0 };
  let table, colours, width, fit;
  root.classList.add("adalib-explorer");

  // --- the page's furniture -------------------------------------------------------------------------------------
  const choice = h("select", { id: `${uid}-set` });
  const chosen = h("p", { class: "ax-about" });
  const picker = h("input", { type: "file", accept: ".csv,.jsonl,.ndjson,.json,.txt,.gz", hidden: true, "aria-label": "Your own file" });
  const opener = h("button", { type: "button", text: "Open your own file" });
  const trouble = h("p", { class: "ax-trouble", role: "alert", hidden: true });
  const price = slider("lambda", ["Price ", h("var", { text: "\u03bb" })], { min: 0, max: STEPS, step: 1 });
  const budget = slider("budget", ["Budget ", h("var", { text: "B" })], {});
  const meaning = h("p", { class: "ax-say" });
  const verdict = h("p", { class: "ax-say" });
  price.node.append(meaning);
  budget.node.append(verdict);
  const numbers = {};
  const strip = h("div", { class: "ax-numbers", role: "list" });
  const keys = { lambda: "price \u03bb", cost: "average cost", accuracy: "accuracy", mix: "best mix, same cost", gain: "gain over the mix" };
  for (const [key, text] of Object.entries(keys)) {
    numbers[key] = h("strong", { "data-number": key });
    strip.append(h("div", { role: "listitem" }, h("span", { class: "ax-key", text }), numbers[key]));
  }
  const note = h("p", { class: "ax-note" });
  const live = h("p", { class: "ax-hidden", "aria-live": "polite" });
  const act = {
    price: (value) => move({ lam: value, budget: null }),
    budget: (value) => move({ budget: value }),
    pick: (row) => move({ selected: row }),
    pickAt: (at) => at < table.n && move({ selected: table.path.held[at] }),
    pickStep: (by) => move({ selected: (state.selected + by + table.n) % table.n }),
    find,
  };
  const panels = [staircasePanel, frontierPanel, splitPanel, questionPanel].map((make) => make(act));
  const filesAllowed = host.files !== false;
  root.replaceChildren(
    h("div", { class: "ax-top" },
      (settings.length > 1 || filesAllowed) && h("label", { for: choice.id }, "Setting ", choice),
      filesAllowed && opener,
      filesAllowed && picker,
      filesAllowed && h("span", { class: "ax-hint", text: DROP })),
    chosen, trouble,
    h("div", { class: "ax-controls" }, price.node, budget.node),
    strip,
    h("div", { class: "ax-grid" }, ...panels.map((panel) => panel.node)),
    note, live,
  );

  function slider(key, label, range) {
    const input = h("input", { type: "range", id: `${uid}-${key}`, "data-control": key, ...range });
    const box = h("input", { type: "number", min: 0, step: "any", "data-exact": key });
    box.setAttribute("aria-label", `${key === "lambda" ? "Price lambda" : "Budget B"}, exact value`);
    return { input, box, node: h("div", { class: "ax-control" }, h("label", { for: input.id }, ...label), input, box) };
  }

  // --- price slider: position 0 is free, the rest is logarithmic --------------------------------------------------
  const toPrice = (at) => (at <= 0 ? 0 : threeDigits(table.range.low * (table.range.high / table.range.low) ** ((at - 1) / (STEPS - 1))));
  const toPosition = (value) => {
    if (value <= 0) return 0;
    const { low, high } = table.range;
    return clamp(Math.round(1 + ((STEPS - 1) * Math.log(value / low)) / Math.log(high / low)), 1, STEPS);
  };
  price.input.addEventListener("input", () => act.price(toPrice(Number(price.input.value))));
  budget.input.addEventListener("input", () => act.budget(Number(Number(budget.input.value).toFixed(table.range.budgetDigits))));
  const typed = (box, use) => box.addEventListener("change", () => {
    const value = Number(box.value);
    if (box.value.trim() && Number.isFinite(value) && value >= 0) use(value);
    else refresh();
  });
  typed(price.box, act.price);
  typed(budget.box, act.budget);

  // --- settings ---------------------------------------------------------------------------------------------------
  function listSettings() {
    const groups = [["real", "Real models"], ["simulated", "Simulated"], ["yours", "Your file"]];
    choice.replaceChildren(...groups.map(([kind, label]) => {
      const group = h("optgroup", { label });
      settings.forEach((one, at) => {
        const mark = kind === "simulated" && !/simulated/i.test(one.title) ? " (simulated)" : "";
        if (one.kind === kind) group.append(h("option", { value: at, text: one.title + mark }));
      });
      return group.firstChild && group;
    }).filter(Boolean));
  }

  function useSetting(at) {
    state.at = at;
    table = tables[at] ??= build(settings[at]);
    const setting = settings[at];
    table.units = setting.unit === "cost" ? "cost units" : setting.unit;
    table.per = setting.unit === "cost" ? "cost unit" : setting.unit.replace(/s$/, "");
    numbers.cost.previousSibling.textContent = `average cost, ${table.units}`;
    choice.value = at;
    const { range } = table;
    set(budget.input, { min: range.budgetLow, max: range.budgetHigh, step: range.step });
    const counted = `${plural(table.n, "question")}, ${plural(table.k, "budget")}.`;
    const simulated = setting.kind === "simulated" && !/simulated/i.test(setting.about) && "Simulated, not a real model.";
    chosen.textContent = [counted, simulated, setting.about].filter(Boolean).join(" ");
    note.textContent = setting.estimated === false ? "" : OPTIMISTIC;
    note.hidden = !note.textContent;
    Object.assign(state, { lam: setting.lam ?? range.start, budget: null, selected: table.path.held[0] });
    paint();
  }
  choice.addEventListener("change", () => {
    const { lam, budget: asked, at } = state;
    trouble.hidden = true;
    useSetting(Number(choice.value));
    // The same price means the same in another setting, if costs are counted alike.
    move(settings[at].unit === settings[state.at].unit ? { lam, budget: asked } : {});
  });

  // --- drawing ----------------------------------------------------------------------------------------------------
  const context = () => ({ table, width, colours, state });

  /** Colours and everything that stands still; needed after a new setting, width or theme. */
  function paint() {
    width = 0;
    if (!root.clientWidth) return; // not on the page yet, or hidden: the observer below calls again
    const ink = getComputedStyle(root).color.match(/[\d.]+/g).map(Number);
    const theme = ink[0] + ink[1] + ink[2] > 384 ? "dark" : "light"; // light ink means a dark page
    colours = ramp(table.k, theme);
    colours.forEach((colour, j) => root.style.setProperty(`--ax-b${j}`, colour.fill));
    const style = getComputedStyle(panels[0].node);
    width = Math.floor(panels[0].node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
    panels.forEach((panel) => panel.layout(context()));
  }

  /** Everything that follows the price. */
  function refresh() {
    if (!width) return;
    const view = oracle(table, state.lam);
    panels.forEach((panel) => panel.move(context(), view));
    const { range } = table;
    const cost = fixed(view.cost, range.digits);
    const shownPrice = showPrice(view.lam);
    const text = {
      lambda: shownPrice, cost, accuracy: fixed(view.accuracy, 4),
      mix: fixed(view.mix, 4), gain: signed(view.gain, 4),
    };
    for (const key in text) numbers[key].textContent = text[key];
    numbers.lambda.title = `exactly ${view.lam}`;
    root.dataset.lam = view.lam;
    price.input.value = toPosition(view.lam);
    price.box.value = Number(view.lam.toPrecision(4));
    budget.input.value = state.budget ?? view.cost;
    budget.box.value = state.budget ?? Number(view.cost.toFixed(range.digits));
    const points = 100 * view.lam;
    meaning.replaceChildren(view.lam === 0 ? "Compute is free: every question takes its cheapest most accurate budget." :
      `One more ${table.per} must bring ${threeDigits(points)} point${points === 1 ? "" : "s"} of accuracy, or it is not bought.`);
    verdict.textContent = say(view);
    verdict.classList.toggle("ax-warn", fit?.fit === "impossible");
    set(price.input, { "aria-valuetext": `price ${shownPrice}, average cost ${cost} ${table.units}` });
    set(budget.input, { "aria-valuetext": `budget ${state.budget ?? cost}, average cost ${cost} ${table.units} at price ${shownPrice}` });
    announce(`Price ${shownPrice}: average cost ${cost} ${table.units}, accuracy ${text.accuracy}, ${text.gain} over the best mix.`);
  }

  /** How well the budget is met, in one sentence. */
  function say(view) {
    const { digits } = table.range;
    const show = (x) => fixed(x, digits);
    if (!fit) return `The oracle spends ${show(view.cost)} ${table.units} a question at this price.`;
    if (fit.fit === "exact") return `This price spends exactly ${show(fit.cost)}: no slack.`;
    if (fit.fit === "impossible") return `No allocation is that cheap: the cheapest costs ${show(fit.cost)}.`;
    if (fit.fit === "free") return `Even for free the oracle spends ${show(fit.cost)}; the other ${show(fit.slack)} would buy nothing.`;
    return `No price spends exactly ${Number(state.budget.toPrecision(12))}: it is ${show(fit.above)} just below this price ` +
      `and ${show(fit.cost)} from here on. Slack ${show(fit.slack)}; splitting one question would use it (chapter 3).`;
  }

  let announcing;
  function announce(text) {
    clearTimeout(announcing);
    announcing = setTimeout(() => (live.textContent = text), 500);
  }

  /** The one door for every change: from a slider, a click, the address or Python. */
  function move(change, { silent = false } = {}) {
    if (change.selected !== undefined) state.selected = clamp(Math.trunc(change.selected) || 0, 0, table.n - 1);
    if (change.budget !== undefined) state.budget = change.budget;
    if (change.lam !== undefined) state.lam = change.lam;
    fit = state.budget === null ? null : priceFor(table, state.budget);
    if (fit) state.lam = fit.lam;
    refresh();
    if (silent) return;
    writeAddress();
    host.changed?.({ ...state });
  }

  /** Up to eight questions whose id, text or gold answer holds the words typed. */
  function find(words) {
    const wanted = words.trim().toLowerCase();
    const hits = [];
    if (!wanted) return hits;
    const { ids, questions, golds } = table.setting;
    for (let row = 0; row < table.n && hits.length < 8; row++) {
      const id = String(ids?.[row] ?? row);
      const body = questions?.[row] ?? "";
      if (`${id}\n${body}\n${golds?.[row] ?? ""}`.toLowerCase().includes(wanted)) hits.push({ row, label: clip(`${id}  ${body}`, 70) });
    }
    return hits;
  }

  // --- the reader's own file --------------------------------------------------------------------------------------
  async function open(file) {
    try {
      const setting = await readFile(file);
      const old = settings.findIndex((one) => one.kind === "yours");
      const at = old < 0 ? settings.length : old;
      settings[at] = setting;
      tables[at] = null;
      trouble.hidden = true;
      listSettings();
      useSetting(at);
      move({});
    } catch (error) {
      trouble.textContent = error instanceof BadFile ? error.message : `${file.name}: cannot be explored (${error.message}).`;
      trouble.hidden = false;
    }
  }
  if (filesAllowed) {
    opener.addEventListener("click", () => picker.click());
    picker.addEventListener("change", () => {
      if (picker.files[0]) open(picker.files[0]);
      picker.value = "";
    });
    const over = (on) => (event) => {
      event.preventDefault();
      root.classList.toggle("ax-over", on);
    };
    root.addEventListener("dragover", over(true));
    root.addEventListener("dragleave", over(false));
    root.addEventListener("drop", (event) => {
      over(false)(event);
      if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
    });
  }

  // --- the address: #lambda=...&set=...&q=..., so that a teacher can link to a view ---------------------------------
  // Of several explorers on a page the first one owns the address; a heading's anchor is left alone until a move.
  const owner = Symbol.for("adalib.explorer.address");
  const ownsAddress = host.address !== false && !window[owner]?.isConnected;
  if (ownsAddress) window[owner] = root;
  let writing;

  function writeAddress() {
    if (!ownsAddress) return;
    clearTimeout(writing);
    writing = setTimeout(() => {
      const view = new URLSearchParams({ lambda: state.lam });
      if (state.budget !== null) view.set("budget", state.budget);
      if (settings[state.at].kind !== "yours") view.set("set", settings[state.at].name);
      view.set("q", table.setting.ids?.[state.selected] ?? state.selected);
      try {
        history.replaceState(history.state, "", `#${view}`);
      } catch {
        // A sandboxed page may not touch its address; the explorer works without.
      }
    }, 200);
  }

  function readAddress() {
    const view = new URLSearchParams(location.hash.slice(1));
    const number = (key) => {
      const value = view.get(key)?.trim() ? Number(view.get(key)) : NaN;
      return Number.isFinite(value) && value >= 0 ? value : undefined;
    };
    const at = settings.findIndex((one) => one.name === view.get("set"));
    if (at >= 0 && at !== state.at) useSetting(at);
    const change = {};
    if (number("lambda") !== undefined) Object.assign(change, { lam: number("lambda"), budget: null });
    if (number("budget") !== undefined) change.budget = number("budget");
    if (view.has("q")) {
      const row = (table.setting.ids ?? []).indexOf(view.get("q"));
      change.selected = row >= 0 ? row : table.setting.ids ? state.selected : Number(view.get("q"));
    }
    if (!view.has("set") && !Object.keys(change).length) return; // the address is a heading's, or nobody's
    move(change, { silent: true });
    const { top, bottom } = root.getBoundingClientRect();
    if (top > 0.6 * window.innerHeight || bottom < 0.4 * window.innerHeight) root.scrollIntoView();
  }

  // --- start ------------------------------------------------------------------------------------------------------
  listSettings();
  useSetting(0);
  move({ lam: host.lam, budget: host.budget, selected: host.selected }, { silent: true });
  if (ownsAddress) {
    readAddress();
    window.addEventListener("hashchange", readAddress);
  }
  const again = () => {
    paint();
    refresh();
  };
  let seenWidth = root.clientWidth;
  const resizing = new ResizeObserver(() => {
    if (root.clientWidth === seenWidth) return;
    seenWidth = root.clientWidth;
    again();
  });
  resizing.observe(root);
  const themed = new MutationObserver(again);
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class"] });
  themed.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-theme", "class"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", again);

  return {
    state,
    set: (change) => move(change, { silent: true }),
    destroy() {
      clearTimeout(writing);
      clearTimeout(announcing);
      resizing.disconnect();
      themed.disconnect();
      system.removeEventListener("change", again);
      window.removeEventListener("hashchange", readAddress);
      if (window[owner] === root) delete window[owner];
    },
  };
}

// ------------------------------------------------------------------------------------------------------ 7  Hosts

/** Static page: the settings lie in a JSON script next to the root. */
function mountStatic(id) {
  const root = document.getElementById(id);
  return mount(root, JSON.parse(document.getElementById(`${id}-data`).textContent));
}

/** Jupyter: traits lam, budget and selected are kept in step with the page. */
function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  const keys = ["lam", "budget", "selected"];
  const start = Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  const explorer = mount(root, model.get("_settings"), {
    ...start, files: false, address: false,
    changed(state) {
      keys.forEach((key) => model.set(key, state[key]));
      model.save_changes();
    },
  });
  const { state } = explorer;
  const follow = {
    // A budget asked for in Python sets the price, and a price set in Python lets go of the budget.
    lam: () => model.get("lam") !== state.lam && moved({ lam: model.get("lam"), budget: null }),
    budget: () => model.get("budget") !== state.budget && moved({ budget: model.get("budget") }),
    selected: () => model.get("selected") !== state.selected && moved({ selected: model.get("selected") }),
  };
  function moved(change) {
    explorer.set(change);
    keys.forEach((key) => model.set(key, state[key]));
    model.save_changes();
  }
  if (start.budget !== null) moved({});
  keys.forEach((key) => model.on(`change:${key}`, follow[key]));
  return () => {
    keys.forEach((key) => model.off(`change:${key}`, follow[key]));
    explorer.destroy();
  };
}

export default { render };
