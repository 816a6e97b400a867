// Turns a quiz (an admonition with class "quiz" holding task lists) into buttons that answer at once, with a score.
// The source marks right options with [x] and ends every option with its explanation in italics.
(function () {
  "use strict";

  // A question counts by its first answer; later ones are for learning.
  function question(list, number, scored) {
    const said = document.createElement("p");
    said.className = "quiz-said";
    said.setAttribute("role", "status");
    let answered = false;
    const choices = document.createElement("div");
    choices.className = "quiz-options";
    for (const item of list.children) {
      const body = item.querySelector(":scope > p") || item;
      const tick = body.querySelector("input");
      const right = tick.checked;
      const why = body.querySelector(":scope > em:last-of-type");
      why.remove();
      tick.remove();
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiz-option";
      button.append(...body.childNodes);
      button.addEventListener("click", () => {
        for (const other of choices.children) other.classList.remove("quiz-right", "quiz-wrong");
        button.classList.add(right ? "quiz-right" : "quiz-wrong");
        said.replaceChildren(right ? "Right. " : "Not quite. ", ...[...why.childNodes].map((node) => node.cloneNode(true)));
        if (!answered) scored(right);
        answered = true;
        if (right) window.adalibProgress?.done(`quiz question ${number}`);
      });
      choices.append(button);
    }
    list.replaceWith(choices, said);
  }

  function quiz(box) {
    const lists = [...box.querySelectorAll("ul.contains-task-list")];
    const score = document.createElement("p");
    score.className = "quiz-score";
    score.setAttribute("role", "status");
    let asked = 0;
    let won = 0;
    lists.forEach((list, at) =>
      question(list, at + 1, (right) => {
        asked += 1;
        won += right ? 1 : 0;
        score.textContent = `${won} of ${asked} right at the first try${asked < lists.length ? ` (${lists.length} questions)` : ""}.`;
      }),
    );
    box.append(score);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".admonition.quiz").forEach(quiz));
})();
