// A switch in the header shows the code of a page or folds it to its first lines, and this browser remembers which. Until it
// is touched, code is shown on a wide screen and folded on a phone. A folded cell opens by itself, at a press on its line.
// One that begins with its imports and shows nothing only sets up: it is folded everywhere until it is asked for.
(function () {
  "use strict";

  const NAME = "adalib-code";
  const root = document.documentElement;
  root.classList.add("adalib-scripts");

  function remembered() {
    try {
      return localStorage.getItem(NAME);
    } catch {
      return null; // a browser may forbid its memory
    }
  }

  function remember(value) {
    try {
      localStorage.setItem(NAME, value);
    } catch {
      // it lasts as long as the page
    }
  }

  const shown = remembered() ? remembered() === "shown" : !matchMedia("(max-width: 600px)").matches;
  root.classList.toggle("adalib-code-folded", !shown);

  // A cell that opens by itself: one press on its first line.
  function foldable(input) {
    const more = Object.assign(document.createElement("button"), { type: "button", className: "code-more", textContent: "code" });
    const cell = input.parentElement;
    const setsUp = /^(import|from) /.test(cell.querySelector("pre")?.textContent ?? "") && !cell.querySelector(".cell_output");
    input.classList.toggle("is-setup", setsUp);
    const open = (is) => {
      input.classList.toggle("is-open", is);
      more.setAttribute("aria-expanded", is);
    };
    more.addEventListener("click", () => open(!input.classList.contains("is-open")));
    open(false);
    input.addEventListener("focusin", (event) => event.target !== more && open(true)); // its lines were reached by key, or are edited
    input.prepend(more);
    return { open, setsUp };
  }

  document.addEventListener("DOMContentLoaded", () => {
    const cells = [...document.querySelectorAll(".bd-article .cell > .cell_input")].map(foldable);
    const place = document.querySelector(".article-header-buttons");
    if (!cells.length || !place) return;
    const toggle = Object.assign(document.createElement("button"), { type: "button", className: "btn btn-sm adalib-switch" });
    const show = (is) => {
      root.classList.toggle("adalib-code-folded", !is);
      cells.forEach(({ open }) => open(false));
      toggle.setAttribute("aria-pressed", is);
      toggle.textContent = is ? "Hide code" : "Show code";
    };
    toggle.addEventListener("click", () => {
      const is = toggle.getAttribute("aria-pressed") !== "true";
      show(is);
      if (is) cells.forEach(({ open, setsUp }) => setsUp && open(true));
      remember(is ? "shown" : "folded");
    });
    place.prepend(toggle);
    show(shown);
  });
})();
