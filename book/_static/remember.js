// The state of every slider and choice is in the page's address, so that a teacher can link to it: #figure-3-2=4 is the
// fifth stop of Figure 3.2, #stop=7 a slider of the game. (The explorer, and games that
// call `kept` of parts.js, write their own part of the address.)
(function () {
  "use strict";

  const PLACES = ".adalib-figure, [class^='adalib-']:not(.adalib-controls, .adalib-answer-form, .adalib-progress)";
  const INPUTS = "input[type=range], input[type=radio]";

  const view = () => new URLSearchParams(location.hash.slice(1));

  // The figure's number, or the game's name; with a count where a place has several sliders.
  function keyOf(input) {
    const place = input.closest(PLACES);
    if (!place || input.closest(".adalib-explorer, [data-kept], .quiz, .prompt, form")) return null;
    const number = place.querySelector(".adalib-number[id]");
    const name = number ? number.id : place.className.split(" ")[0].replace("adalib-", "");
    const group = (each) => (each.type === "radio" ? each.name : each);
    const groups = [...new Set([...place.querySelectorAll(INPUTS)].map(group))];
    const at = groups.indexOf(group(input));
    return at ? `${name}.${at + 1}` : name;
  }

  function recall(input) {
    const key = keyOf(input);
    const value = key && view().get(key);
    if (value === null || value === "" || input.value === value && input.type === "range") return;
    if (input.type === "radio") {
      if (input.value !== value || input.checked) return;
      input.checked = true;
    } else {
      input.value = value;
    }
    input.dispatchEvent(new Event(input.type === "radio" ? "change" : "input", { bubbles: true }));
  }

  function note(event) {
    const key = event.isTrusted && event.target.matches?.(INPUTS) && keyOf(event.target);
    if (!key) return;
    const kept = location.hash.includes("=") ? view() : new URLSearchParams();
    kept.set(key, event.target.value);
    history.replaceState(history.state, "", `#${kept}`);
  }

  // The figure that the address speaks of, when it does not name an element by itself.
  function go() {
    const key = [...view().keys()].find((each) => each.startsWith("figure-"));
    if (key && location.hash.includes("=")) document.getElementById(key.split(".")[0])?.closest("figure")?.scrollIntoView();
  }

  document.addEventListener("DOMContentLoaded", () => {
    const article = document.querySelector(".bd-article");
    if (!article) return;
    const all = (root) => root.querySelectorAll?.(INPUTS).forEach(recall);
    document.addEventListener("change", note);
    if (!location.hash.includes("=")) return;
    // Controls come when their figure does.
    new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach(all))).observe(article, { childList: true, subtree: true });
    all(article);
    go();
  });
})();
