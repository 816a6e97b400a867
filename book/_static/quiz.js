// Turns a quiz (an admonition with class "quiz" holding task lists) into buttons that answer at once, with a score, and a
// prompt (class "prompt") into a place where the reader commits before the text goes on, without one.
// The source marks right options with [x] and ends every option with its explanation in italics. A list of one option, a
// number, is a guess to be typed.
(function () {
  "use strict";

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  // Say something, and why.
  function tell(said, words, why) {
    said.replaceChildren(words, ...[...why.childNodes].map((node) => node.cloneNode(true)));
  }

  // A question counts by its first answer; later ones are for learning.
  function question(list, answer) {
    const said = make("p", { className: "quiz-said", role: "status" });
    let answered = false;
    const choices = make("div", { className: "quiz-options" });
    for (const item of list.children) {
      const { body, why, right } = parts(item);
      const button = make("button", { type: "button", className: "quiz-option" });
      button.append(...body.childNodes);
      button.addEventListener("click", () => {
        for (const other of choices.children) other.classList.remove("quiz-right", "quiz-wrong");
        button.classList.add(right ? "quiz-right" : "quiz-wrong");
        tell(said, right ? "Right. " : "Not quite. ", why);
        answer(right, !answered);
        answered = true;
      });
      choices.append(button);
    }
    list.replaceWith(choices, said);
  }

  // What an option says, and why; its mark is taken out.
  function parts(item) {
    const body = item.querySelector(":scope > p") || item;
    const tick = body.querySelector("input");
    const why = body.querySelector(":scope > em:last-of-type");
    const right = tick.checked;
    tick.remove();
    why.remove();
    return { body, why, right };
  }

  function typed(list, commit) {
    const { body, why } = parts(list.children[0]);
    const truth = body.textContent.trim();
    const form = make("form", { className: "adalib-answer-form" });
    const input = make("input", { type: "text", inputMode: "decimal", autocomplete: "off", placeholder: "your guess", ariaLabel: "your guess, a number" });
    const said = make("output");
    form.append(input, make("button", { type: "submit", textContent: "Commit" }), said);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      tell(said, `You said ${input.value.trim()}. It is ${truth}. `, why);
      commit();
    });
    list.replaceWith(form);
  }

  // What gives a prompt's answer away: what follows it up to the next cell, what that cell and those right after it print
  // or draw, and the paragraph that reads it aloud. Where no cell follows, it is the next paragraph.
  function telling(box) {
    const found = [];
    let shown = false;
    for (let next = box.nextElementSibling; next && next.tagName !== "SECTION"; next = next.nextElementSibling) {
      const isCell = next.matches(".cell");
      if (isCell) found.push(...next.querySelectorAll(":scope > .cell_output"));
      else found.push(next);
      if (!isCell && (shown || !next.nextElementSibling?.matches(".cell"))) break;
      shown ||= isCell;
    }
    return found;
  }

  // Who skips one skips them all, in the whole book, until they are covered again.
  const lifts = [];
  let skips = false;
  try {
    skips = localStorage.getItem("adalib-skips") !== null;
  } catch {
    // a browser may forbid its memory
  }

  function skipAll(is) {
    try {
      if (is) localStorage.setItem("adalib-skips", "yes");
      else localStorage.removeItem("adalib-skips");
    } catch {
      // it lasts as long as the page
    }
    if (is) lifts.forEach((lift) => lift());
    else location.reload();
  }

  function quietButton(text, press) {
    const button = make("button", { type: "button", className: "prompt-skip", textContent: text });
    button.addEventListener("click", press);
    return button;
  }

  // It is veiled until the reader commits, skips, or wants something of it. It stays readable to a screen reader, and on
  // paper there is no veil.
  function veil(box) {
    const rest = telling(box);
    if (rest.length && skips) box.append(quietButton("Cover answers until I commit", () => skipAll(false)));
    const hidesWhatIsAsked = () => location.hash.length > 1 && rest.some((each) => each.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`));
    if (!rest.length || skips || hidesWhatIsAsked()) return () => {};
    const skip = quietButton("Skip such questions and read on", () => skipAll(true));
    const way = make("div", { className: "veil-way" });
    const show = make("button", { type: "button", className: "veil-show", textContent: "Show it" });
    const lift = () => {
      rest.forEach((each) => each.classList.remove("adalib-veiled"));
      skip.remove();
      way.remove();
    };
    show.addEventListener("click", lift);
    way.append(show);
    rest[0].before(way);
    for (const each of rest) {
      each.classList.add("adalib-veiled");
      for (const sign of ["pointerdown", "focusin"]) each.addEventListener(sign, lift, { once: true });
    }
    window.addEventListener("hashchange", () => hidesWhatIsAsked() && lift()); // a link of this page leads into it
    lifts.push(lift);
    box.append(skip);
    return lift;
  }

  function prompt(box) {
    const lists = [...box.querySelectorAll("ul.contains-task-list")];
    const lift = lists.length ? veil(box) : null;
    for (const list of lists) {
      if (list.children.length === 1) typed(list, lift);
      else question(list, lift);
    }
  }

  function quiz(box) {
    const lists = [...box.querySelectorAll("ul.contains-task-list")];
    const score = make("p", { className: "quiz-score", role: "status" });
    let asked = 0;
    let won = 0;
    lists.forEach((list, at) =>
      question(list, (right, first) => {
        if (right) window.adalibProgress?.done(`quiz question ${at + 1}`);
        if (!first) return;
        asked += 1;
        won += right ? 1 : 0;
        score.textContent = `${won} of ${asked} right at the first try${asked < lists.length ? ` (${lists.length} questions)` : ""}.`;
      }),
    );
    box.append(score);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".admonition.quiz").forEach(quiz);
    document.querySelectorAll(".admonition.prompt").forEach(prompt);
  });
})();
