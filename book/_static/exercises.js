// Exercises on the page: type an answer, and the page says whether it is right, as adabook.exercises.values does. Answers
// and typical mistakes come from the chapter's record (book/press/offline.py). It is practice: no mark is kept anywhere.
(function () {
  "use strict";

  const EXACT = 1e-6; // the tolerance of an answer that has to be exact

  // "0.875", "7/8", "87.5%", "1,024" and "0,875" are numbers; anything else is none.
  function number(text) {
    let read = text.replace(/\s/g, "").replace("−", "-");
    const comma = /^[+-]?(\d*),(\d+)%?$/.exec(read);
    if (comma && (comma[2].length !== 3 || !Number(comma[1]))) read = read.replace(",", ".");
    read = read.replace(/(?<=\d),(?=\d{3}\b)/g, "");
    const found = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+\.?\d*|\.\d+))?(%?)$/i.exec(read);
    return found ? (Number(found[1]) / Number(found[2] || 1)) * (found[3] ? 0.01 : 1) : NaN;
  }

  const plain = (text) => text.trim().replace(/^["'`]+|["'`]+$/g, "").toLowerCase().replace(/\s+/g, " ");
  const tolerance = (exercise) => exercise.tolerance || EXACT;
  // Half of a millionth of the tolerance forgives the last digit of a float.
  const near = (exercise, number, value) => Math.abs(number - value) <= tolerance(exercise) * (1 + 5e-7);

  function is(exercise, text, value) {
    return typeof value === "string" ? plain(text) === plain(value) : near(exercise, number(text), value);
  }

  // What to say to the right number with too few digits: they leave half a unit of the last one open.
  function rounded(exercise, text, most = Infinity) {
    const value = number(text);
    const digits = /^[+-]?\d*(?:[.,](\d+)(%?)|%)$/.exec(text.trim());
    if (!digits || !value) return null;
    const half = 0.5 * 10 ** -((digits[1] ?? "").length + (text.trim().endsWith("%") ? 2 : 0));
    const within = tolerance(exercise);
    if (half <= within / 2 || half >= Math.min(most, 60 * within)) return null;
    if (Math.abs(value - exercise.answer) > half + within) return null;
    return `close, but rounded too much; the tolerance is ${exercise.tolerance || "0.000001"}`;
  }

  // What is the matter with a number that is right but for how it is written.
  function slip(exercise, text) {
    const value = number(text);
    const right = exercise.answer;
    if (!Number.isFinite(value) || near(exercise, 0, right)) return null;
    if (near(exercise, -value, right)) return "the sign is reversed";
    if (near(exercise, value / 100, right)) return "that is a percentage; write a % sign after it, or give the share";
    if (text.includes(",") && near(exercise, value / 1000, right)) return "three digits after a comma are read as thousands; write a decimal point";
    return null;
  }

  // What a wrong answer is told, in the order of Value.fault.
  function fault(exercise, text) {
    const known = Object.entries(exercise.wrong).find(([, value]) => is(exercise, text, value))?.[0];
    if (typeof exercise.answer === "string") return known ?? exercise.hint;
    if (Number.isNaN(number(text))) return "that is not a number; give one, such as 0.875 or 7/8";
    return rounded(exercise, text, 0.01) ?? known ?? rounded(exercise, text) ?? slip(exercise, text) ?? exercise.hint;
  }

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const ended = (hint) => (hint.endsWith("?") ? hint : `${hint}.`);

  function box(place) {
    const { chapter } = place.dataset;
    const exercise = window.adalibExercises?.[chapter]?.[place.dataset.name];
    if (!exercise && document.querySelector('meta[name="adalib-live"]')) {
      place.textContent = "This exercise needs code: press Edit under the cell, write yours, and press Run.";
      return;
    }
    if (!exercise) {
      const lab = make("code", { textContent: "make lab" });
      place.replaceChildren("This exercise needs code: run it in the notebook (", lab, ", or download it at the top of this page; it says how to install the package).");
      return;
    }
    let misses = 0;
    const form = make("form", { className: "adalib-answer-form" });
    const input = make("input", { type: "text", autocomplete: "off", spellcheck: false, placeholder: "your answer, for practice" });
    input.ariaLabel = `Your answer to exercise ${place.dataset.name}`;
    const said = make("output");
    form.append(input, make("button", { type: "submit", textContent: "Check" }), said);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      const good = is(exercise, input.value, exercise.answer);
      // A mistake that has a name is named; else the first hint, and from the second miss on the second one too.
      const further = misses && exercise.more ? ` ${ended(exercise.more)}` : "";
      said.textContent = good ? "Right." : `Not yet. Hint: ${ended(fault(exercise, input.value))}${further}`;
      misses += good ? 0 : 1;
      form.classList.toggle("is-right", good);
      if (good) window.adalibProgress?.done(`exercise ${place.dataset.name}`);
    });
    place.replaceWith(form);
    fold(form.closest("div.cell"));
  }

  /** The form takes an answer; the cell that would take it in the notebook waits behind one word. */
  function fold(cell) {
    const code = cell?.querySelector(":scope > .cell_input");
    if (!code) return;
    const details = make("details", { className: "adalib-code adalib-exercise" });
    details.append(make("summary", { textContent: "code" }), code);
    cell.append(details);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".adalib-answer").forEach(box));
})();
