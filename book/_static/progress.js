// What the reader has solved, chapter by chapter. It is kept in this browser alone, and can be cleared.
(function () {
  "use strict";

  const NAME = "adalib-progress";
  const page = location.pathname.split("/").pop();

  // A browser may forbid its memory (private windows, files): then progress lasts as long as the page.
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(NAME)) || {};
  } catch {
    kept = {};
  }

  function keep() {
    try {
      localStorage.setItem(NAME, JSON.stringify(kept));
    } catch {
      // nothing to be done, and nothing lost but a count
    }
    show();
  }

  function count() {
    return document.querySelectorAll(":not(.prompt) > .adalib-answer-form, .quiz .quiz-options").length;
  }

  let line = null;
  function show() {
    const solved = Object.keys(kept[page] || {}).length;
    const all = count();
    if (!all) return;
    line ??= document.querySelector(".bd-article").appendChild(document.createElement("p"));
    line.className = "adalib-progress";
    const clear = Object.assign(document.createElement("button"), { type: "button", textContent: "forget all progress" });
    clear.addEventListener("click", () => {
      kept = {};
      keep();
    });
    line.replaceChildren(`Solved in this chapter: ${Math.min(solved, all)} of ${all}, remembered in this browser only. `, clear);
  }

  window.adalibProgress = {
    done(what) {
      (kept[page] ??= {})[what] = 1;
      keep();
    },
  };
  document.addEventListener("DOMContentLoaded", show);
})();
