// Code on the page is folded behind one word. A switch in the header opens all of it, and this browser remembers it.
(function () {
  "use strict";

  const NAME = "adalib-code";
  document.documentElement.classList.add("adalib-scripts");

  function remembered() {
    try {
      return localStorage.getItem(NAME) === "shown";
    } catch {
      return false; // a browser may forbid its memory
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const folds = document.querySelectorAll("details.adalib-code");
    const place = document.querySelector(".article-header-buttons");
    if (!folds.length || !place) return;
    const toggle = Object.assign(document.createElement("button"), { type: "button", className: "btn btn-sm adalib-switch" });
    const show = (is) => {
      folds.forEach((fold) => (fold.open = is));
      toggle.setAttribute("aria-pressed", is);
      toggle.textContent = is ? "Hide code" : "Show code";
    };
    toggle.addEventListener("click", () => {
      const is = toggle.getAttribute("aria-pressed") !== "true";
      show(is);
      try {
        localStorage.setItem(NAME, is ? "shown" : "folded");
      } catch {
        // it lasts as long as the page
      }
    });
    place.prepend(toggle);
    show(remembered());
  });
})();
