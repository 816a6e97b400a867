// Exercises on the page (adabook.exercises.values): type an answer, and the page says whether it is right. It has
// only slow, salted hashes of the cells of the number line that count as right, from the chapter's record
// (book/_ext/recorded.py). It is practice: no mark is kept anywhere.
(function () {
  "use strict";

  const ROUNDS = 4000; // as in book/adabook/exercises/values.py

  // SHA-256 by hand: crypto.subtle is missing on pages that are served without https.
  const primes = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((prime) => n % prime)) primes.push(n);
  const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
  const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const ADDED = primes.map((prime) => fraction(Math.cbrt(prime)));
  const turn = (x, by) => (x >>> by) | (x << (32 - by));

  const words = new Int32Array(64);

  function sha256(bytes) {
    const padded = new Uint8Array((Math.floor((bytes.length + 8) / 64) + 1) * 64);
    padded.set(bytes);
    padded[bytes.length] = 0x80;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 4, bytes.length * 8);
    const state = Int32Array.from(START);
    for (let block = 0; block < padded.length; block += 64) {
      for (let i = 0; i < 16; i += 1) words[i] = view.getInt32(block + 4 * i);
      for (let i = 16; i < 64; i += 1) {
        const early = words[i - 15];
        const late = words[i - 2];
        const low = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
        const high = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
        words[i] = words[i - 16] + low + words[i - 7] + high;
      }
      let a = state[0], b = state[1], c = state[2], d = state[3];
      let e = state[4], f = state[5], g = state[6], h = state[7];
      for (let i = 0; i < 64; i += 1) {
        const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ADDED[i] + words[i]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g;
        g = f;
        f = e;
        e = (d + one) | 0;
        d = c;
        c = b;
        b = a;
        a = (one + two) | 0;
      }
      [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
    }
    const digest = new Uint8Array(32);
    const out = new DataView(digest.buffer);
    for (let i = 0; i < 8; i += 1) out.setInt32(4 * i, state[i]);
    return digest;
  }

  const kept = new Map(); // one answer is compared with several keys

  function hashed(text) {
    if (!kept.has(text)) {
      let digest = new TextEncoder().encode(text);
      for (let round = 0; round < ROUNDS; round += 1) digest = sha256(digest);
      kept.set(text, Array.from(digest.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join(""));
    }
    return kept.get(text);
  }

  // "0.875", "7/8", "87.5%", "1,024" and "0,875" are numbers; anything else is none.
  function number(text) {
    let plain = text.replace(/\s/g, "").replace("−", "-");
    const comma = /^[+-]?(\d*),(\d+)%?$/.exec(plain);
    if (comma && (comma[2].length !== 3 || !Number(comma[1]))) plain = plain.replace(",", ".");
    plain = plain.replace(/(?<=\d),(?=\d{3}\b)/g, "");
    const found = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+\.?\d*|\.\d+))?(%?)$/i.exec(plain);
    return found ? (Number(found[1]) / Number(found[2] || 1)) * (found[3] ? 0.01 : 1) : NaN;
  }

  const within = (key, name, value) => key.right.includes(hashed(`${name}:${Math.floor(value / key.step + 0.5)}`));

  function opens(key, name, text) {
    if (key.step) return within(key, name, number(text));
    const plain = text.trim().replace(/^["'`]+|["'`]+$/g, "").toLowerCase().replace(/\s+/g, " ");
    return key.right.includes(hashed(`${name}:${plain}`));
  }

  // What to say to the right number with too few digits: they leave half a unit of the last one open.
  function rounded({ key, tolerance }, name, text, most = Infinity) {
    const value = number(text);
    const digits = /^[+-]?\d*(?:[.,](\d+)(%?)|%)$/.exec(text.trim());
    const half = digits && value ? 0.5 * 10 ** -((digits[1] ?? "").length + (text.trim().endsWith("%") ? 2 : 0)) : 0;
    if (!key.step || half <= key.step || half >= Math.min(most, 120 * key.step)) return null;
    // Five cells in a row count as right, so looking at every fourth one misses none.
    for (let cell = -Math.round(half / key.step); cell < Math.round(half / key.step) + 4; cell += 4) {
      if (within(key, name, value + cell * key.step)) return `close, but rounded too much; the tolerance is ${tolerance || "0.000001"}`;
    }
    return null;
  }

  // What is the matter with a number that is right but for how it is written.
  function slip({ key }, name, text) {
    const value = number(text);
    if (!key.step || !Number.isFinite(value) || within(key, name, 0)) return null;
    if (within(key, name, -value)) return "the sign is reversed";
    if (within(key, name, value / 100)) return "that is a percentage; write a % sign after it, or give the share";
    if (text.includes(",") && within(key, name, value / 1000)) return "three digits after a comma are read as thousands; write a decimal point";
    return null;
  }

  // What a wrong answer is told, in the order of Value.fault.
  function fault(exercise, name, text) {
    if (exercise.key.step && Number.isNaN(number(text))) return "that is not a number; give one, such as 0.875 or 7/8";
    const known = exercise.wrong.find((key) => opens(key, name, text));
    return rounded(exercise, name, text, 0.01) ?? known?.hint ?? rounded(exercise, name, text) ?? slip(exercise, name, text) ?? exercise.hint;
  }

  const ended = (hint) => (hint.endsWith("?") ? hint : `${hint}.`);

  function box(place) {
    const { chapter } = place.dataset;
    const exercise = window.adalibRecorded?.[chapter]?.[place.dataset.name];
    const name = `${exercise?.salt}:${place.dataset.name}`;
    if (!exercise && document.querySelector('meta[name="adalib-live"]')) {
      place.textContent = "This exercise needs code: press Edit under the cell, write yours, and press Run.";
      return;
    }
    if (!exercise) {
      const lab = Object.assign(document.createElement("code"), { textContent: "make lab" });
      place.replaceChildren("This exercise needs code: run it in the notebook (", lab, ", or download it at the top of this page; it says how to install the package).");
      return;
    }
    let misses = 0;
    const form = document.createElement("form");
    const input = document.createElement("input");
    const button = document.createElement("button");
    const said = document.createElement("output");
    form.className = "adalib-answer-form";
    Object.assign(input, { type: "text", autocomplete: "off", spellcheck: false, placeholder: "your answer" });
    input.setAttribute("aria-label", `Your answer to exercise ${place.dataset.name}`);
    Object.assign(button, { type: "submit", textContent: "Check" });
    form.append(input, button, said);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      const good = opens(exercise.key, name, input.value);
      // A mistake that has a name is named; else the first hint, and from the second miss on the second one too.
      const further = misses && exercise.more ? ` ${ended(exercise.more)}` : "";
      said.textContent = good ? "Right." : `Not yet. Hint: ${ended(fault(exercise, name, input.value))}${further}`;
      misses += good ? 0 : 1;
      form.classList.toggle("is-right", good);
      if (good) window.adalibProgress?.done(`exercise ${place.dataset.name}`);
    });
    place.replaceWith(form);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".adalib-answer").forEach(box));
})();
