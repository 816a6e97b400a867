// What is wider than the screen: a formula that nearly fits is set a little smaller. What scrolls sideways inside itself
// (printed columns, wide tables, long formulas) takes the focus, and fades at the edge behind which there is more.
(function () {
  "use strict";

  const KINDS = "pre, div.math, .adalib-scroll, table.dataframe, .pst-scrollable-table-container";

  const LEAST = 0.85; // of a formula's size: below, it keeps its size and scrolls
  const FADE = "2rem";

  // Measuring lays out the page: once for all that happens together, and not while it is busy.
  let soon = null;
  function later() {
    clearTimeout(soon);
    soon = setTimeout(() => (shrink(), mark()), 200);
  }

  // All are measured before any is changed.
  function shrink() {
    const formulas = [...document.querySelectorAll(".bd-article div.math")];
    formulas.forEach((formula) => (formula.style.fontSize = ""));
    const shares = formulas.map((formula) => formula.clientWidth / formula.scrollWidth);
    formulas.forEach((formula, at) => {
      if (shares[at] < 1 && shares[at] >= LEAST) formula.style.fontSize = `${Math.floor(100 * shares[at])}%`;
    });
  }

  // A table's first column stays at its left edge, so nothing fades there.
  function fade(box) {
    const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.style.setProperty("--fade-right", rest > 1 ? FADE : "0px");
    box.style.setProperty("--fade-left", box.scrollLeft > 1 && !box.querySelector(".adalib-sideways") ? FADE : "0px");
  }

  function mark() {
    for (const box of document.querySelectorAll(`.bd-article :is(${KINDS})`)) {
      const wider = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
      if (wider) box.tabIndex = 0;
      if (wider && !box.classList.contains("adalib-fades")) box.addEventListener("scroll", () => fade(box), { passive: true });
      box.classList.toggle("adalib-fades", wider);
      if (wider) box.style.setProperty("--caption", `${box.querySelector("caption")?.offsetHeight ?? 0}px`);
      if (wider) fade(box);
    }
  }

  for (const event of ["load", "resize", "click", "adalib-fitted"]) window.addEventListener(event, later);
})();
