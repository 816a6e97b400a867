// Colours of budgets, and scales from values to pixels.

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** A colour as the panels need it: to fill with, to write on, and as a pixel of the map. */
function paintFrom(rgb) {
  const light = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 140;
  const pixel = 0xff000000 + (rgb[2] << 16) + (rgb[1] << 8) + rgb[0];
  return { fill: `rgb(${rgb.join(",")})`, on: light ? "#16202b" : "#ffffff", pixel };
}

/** The colours of so many budgets, cheapest first: those of adalib.colours, the same on a light and on a dark page. */
function ramp(count) {
  const stops = BUDGET_COLOURS.map(channels);
  return Array.from({ length: count }, (_, i) => {
    const t = (i / Math.max(count - 1, 1)) * (stops.length - 1);
    const at = Math.min(stops.length - 2, Math.floor(t));
    return paintFrom(stops[at].map((low, c) => Math.round(low + (t - at) * (stops[at + 1][c] - low))));
  });
}

/** A setting's own colours, where it has some (a hue per model), else those of budgets. */
const coloursOf = ({ setting, k }) => setting.colours?.map((hex) => paintFrom(channels(hex))) ?? ramp(k);

const LONGEST = 16; // letters of a budget's name that are shown: a model and a number of answers
const MOST = 50; // budgets shown one by one; of thousands, a selection, so that the work grows with them and no faster

/** The columns to show: all of them, or some evenly spaced ones and those that must be there. */
function columnsToShow(k, ...must) {
  const some = k > MOST ? Array.from({ length: MOST / 2 }, (_, i) => Math.round((i * (k - 1)) / (MOST / 2 - 1))) : Array(k).keys();
  return [...new Set([...some, ...must])].sort((i, j) => i - j);
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

/** Ticks on a log axis: 1, 2 and 5 of every decade. */
function logTicks(low, high) {
  const decades = Array.from({ length: Math.ceil(Math.log10(high / low)) + 1 }, (_, d) => 10 ** (Math.floor(Math.log10(low)) + d));
  const values = decades.flatMap((one) => [one, 2 * one, 5 * one]).filter((value) => value >= low && value <= high);
  return values.map((value) => ({ value, text: String(threeDigits(value)) }));
}

/** Ticks for shares, in percent. */
const percentTicks = (low, high) => niceTicks(100 * low, 100 * high, 5).map(({ value, text }) => ({ value: value / 100, text: `${text}%` }));
