// Turns a quiz (an admonition with class "quiz" holding task lists) into buttons that answer at once.
// The source marks right options with [x] and ends every option with its explanation in italics.
document.addEventListener("DOMContentLoaded", () => {
  for (const list of document.querySelectorAll(".admonition.quiz ul.contains-task-list")) {
    const said = document.createElement("p");
    said.className = "quiz-said";
    said.setAttribute("role", "status");
    const options = [...list.children].map((item) => {
      const body = item.querySelector(":scope > p") || item;
      const box = body.querySelector("input");
      const right = box.checked;
      const why = body.querySelector(":scope > em:last-of-type");
      why.remove();
      box.remove();
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiz-option";
      button.append(...body.childNodes);
      button.addEventListener("click", () => {
        for (const other of list.querySelectorAll(".quiz-option")) other.classList.remove("quiz-right", "quiz-wrong");
        button.classList.add(right ? "quiz-right" : "quiz-wrong");
        said.replaceChildren(right ? "Right. " : "Not quite. ", ...[...why.childNodes].map((node) => node.cloneNode(true)));
      });
      return button;
    });
    const choices = document.createElement("div");
    choices.className = "quiz-options";
    choices.append(...options);
    list.replaceWith(choices, said);
  }
});
