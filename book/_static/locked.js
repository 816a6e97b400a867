// A student's quiz (book/editions/student.py) comes locked: each option carries its mark and its explanation in a form
// that cannot be read or searched. This opens them before quiz.js turns the quiz into buttons.
(function () {
  "use strict";

  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));

  function opened(locked, salt) {
    let state = 2166136261;
    for (const byte of salt) state = Math.imul(state ^ byte, 16777619) >>> 0;
    const text = locked.map((byte) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return byte ^ (state >>> 24);
    });
    return new TextDecoder().decode(text);
  }

  // Explanations hold plain text, `code` and formulas in MathML.
  function explained(text) {
    const why = document.createElement("em");
    for (const part of text.split(/(<math>.*?<\/math>|`[^`]+`)/)) {
      if (part.startsWith("<math>")) {
        const formula = Object.assign(document.createElement("span"), { className: "math notranslate nohighlight" });
        formula.innerHTML = part;
        why.append(formula);
      } else if (part.startsWith("`")) {
        why.append(Object.assign(document.createElement("code"), { textContent: part.slice(1, -1) }));
      } else {
        why.append(part);
      }
    }
    return why;
  }

  // Of a number to be guessed the option itself is locked, too.
  function open(lock) {
    const [mark, why, guessed] = JSON.parse(opened(bytes(lock.dataset.lock), new TextEncoder().encode(lock.dataset.salt)));
    lock.closest("li").querySelector("input").checked = mark === "1";
    lock.replaceWith(guessed, explained(why));
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".quiz-lock").forEach(open));
})();
