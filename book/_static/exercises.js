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

  // "0.875", "7/8", "87.5%" and "1,024" are numbers; anything else is none.
  function number(text) {
    const plain = text.replace(/\s|(?<=\d),(?=\d{3}\b)/g, "").replace("−", "-");
    const found = /^([+-]?\d*\.?\d+(?:e[+-]?\d+)?)(?:\/(\d*\.?\d+))?(%?)$/i.exec(plain);
    return found ? (Number(found[1]) / Number(found[2] || 1)) * (found[3] ? 0.01 : 1) : NaN;
  }

  function opens(key, name, text) {
    const plain = text.trim().replace(/^["'`]+|["'`]+$/g, "").toLowerCase().replace(/\s+/g, " ");
    const cell = key.step ? Math.floor(number(text) / key.step + 0.5) : plain;
    return key.right.includes(hashed(`${name}:${cell}`));
  }

  function box(place) {
    const { chapter, name } = place.dataset;
    const exercise = window.adalibRecorded?.[chapter]?.[name];
    if (!exercise && document.querySelector('meta[name="adalib-live"]')) {
      place.textContent = "This one wants code: press Edit under the cell, write yours, and press Run.";
      return;
    }
    if (!exercise) {
      const lab = Object.assign(document.createElement("code"), { textContent: "make lab" });
      place.replaceChildren("This one wants code: run it in the notebook (", lab, ", or download it at the top of this page).");
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
      const known = exercise.wrong.find((key) => opens(key, name, input.value));
      // A mistake that has a name is named; else the first hint, and from the second miss on the second one too.
      const hint = known ? known.said : exercise.hint;
      const further = misses && exercise.more ? ` ${exercise.more}.` : "";
      said.textContent = good ? "Right." : `Not yet. Hint: ${hint}.${further}`;
      misses += good ? 0 : 1;
      form.classList.toggle("is-right", good);
      if (good) window.adalibProgress?.done(`exercise ${name}`);
    });
    place.replaceWith(form);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".adalib-answer").forEach(box));
})();
