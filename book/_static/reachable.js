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
  function fades(box) {
    const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
    const left = box.scrollLeft > 1 && !box.querySelector(".adalib-sideways");
    return { "--fade-right": rest > 1 ? FADE : "0px", "--fade-left": left ? FADE : "0px" };
  }
  const set = (box, values) => Object.entries(values).forEach(([name, value]) => box.style.setProperty(name, value));

  function mark() {
    const boxes = [...document.querySelectorAll(`.bd-article :is(${KINDS})`)].map((box) => {
      const wider = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
      return { box, wider, values: wider && { ...fades(box), "--caption": `${box.querySelector("caption")?.offsetHeight ?? 0}px` } };
    });
    for (const { box, wider, values } of boxes) {
      if (wider) box.tabIndex = 0;
      if (wider && !box.classList.contains("adalib-fades")) box.addEventListener("scroll", () => set(box, fades(box)), { passive: true });
      box.classList.toggle("adalib-fades", wider);
      if (wider) set(box, values);
    }
  }

  for (const event of ["load", "resize", "click", "adalib-fitted"]) window.addEventListener(event, later);
})();
