// Exercises on the page (adalib.teach.exercises.judged): type an answer, and the page says whether it is right. It knows the
// answer only as salted hashes of the cells of the number line that count as right, from the chapter's record
// (book/_ext/recorded.py).
(function () {
  "use strict";

  function hashed(text) {
    let value = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(text)) value = ((value ^ BigInt(byte)) * 0x100000001b3n) & ((1n << 64n) - 1n);
    return value.toString(16).padStart(16, "0");
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
    if (!key.step || half <= key.step || half >= Math.min(most, 500 * key.step)) return null;
    for (let cell = -Math.round(half / key.step); cell <= Math.round(half / key.step); cell += 1) {
      if (within(key, name, value + cell * key.step)) return `near, but rounded too far; a number counts within ${tolerance || "0.000001"}`;
    }
    return null;
  }

  // What is the matter with a number that is right but for how it is written.
  function slip({ key }, name, text) {
    const value = number(text);
    if (!key.step || !Number.isFinite(value) || within(key, name, 0)) return null;
    if (within(key, name, -value)) return "the sign is turned round";
    if (within(key, name, value / 100)) return "that is a percentage; write a % sign after it, or give the share";
    if (text.includes(",") && within(key, name, value / 1000)) return "three digits after a comma are read as thousands; write a decimal point";
    return null;
  }

  // What a wrong answer is told, in the order of Value.fault.
  function fault(exercise, name, text) {
    if (exercise.key.step && Number.isNaN(number(text))) return "that is no number; give one, such as 0.875 or 7/8";
    const known = exercise.wrong.find((key) => opens(key, name, text));
    return rounded(exercise, name, text, 0.01) ?? known?.said ?? rounded(exercise, name, text) ?? slip(exercise, name, text) ?? exercise.hint;
  }

  const ended = (hint) => (hint.endsWith("?") ? hint : `${hint}.`);

  function box(place) {
    const { chapter, name } = place.dataset;
    const exercise = window.adalibRecorded?.[chapter]?.[name];
    if (!exercise && document.querySelector('meta[name="adalib-live"]')) {
      place.textContent = "This one wants code: press Edit under the cell, write yours, and press Run.";
      return;
    }
    if (!exercise) {
      const lab = Object.assign(document.createElement("code"), { textContent: "make lab" });
      place.replaceChildren("This one wants code: run it in the notebook (", lab, ", or download it at the top of this page; it says how to install the package).");
      return;
    }
    let misses = 0;
    const form = document.createElement("form");
    const input = document.createElement("input");
    const button = document.createElement("button");
    const said = document.createElement("output");
    form.className = "adalib-answer-form";
    Object.assign(input, { type: "text", autocomplete: "off", spellcheck: false, placeholder: "your answer" });
    input.setAttribute("aria-label", `Your answer to exercise ${name}`);
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
      if (good) window.adalibProgress?.done(`exercise ${name}`);
    });
    place.replaceWith(form);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".adalib-answer").forEach(box));
})();
