// Numbers: how a number is shown, so that Python can print the very same characters.

const TIE = 1e-12; // net values this close count as equal, and the cheaper budget wins

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
const isNumber = (text) => /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text);
const clip = (text, length = 40) => (text.length > length ? text.slice(0, length - 1) + "\u2026" : text);

/** Characters that are not seen, or turn the line round, shown as their codes: an id is never taken for another. */
const visible = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
