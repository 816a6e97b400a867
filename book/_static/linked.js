// One idea in several places: a kind of question that the reader points at, focuses or taps in the game by kind (kinds.js)
// is marked in the game, in the tables that have a row for it and in the figures that draw it by its name.
(function () {
  "use strict";

  const FAINT = 0.2; // opacity of the other kinds

  function start() {
    const rows = new Map(); // element -> its kind
    for (const row of document.querySelectorAll(".kinds-row")) rows.set(row, row.dataset.kind);
    const kinds = new Set(rows.values());
    for (const row of document.querySelectorAll(".adalib-table tbody tr")) {
      const name = row.cells[0].textContent.trim();
      if (kinds.has(name)) rows.set(row, name);
    }

    const drawn = () => [...document.querySelectorAll(".adalib-figure .js-plotly-plot")].filter((div) => div.data?.some(({ name }) => kinds.has(name)));
    let marked = null;
    function mark(kind) {
      if (kind === marked) return;
      marked = kind;
      rows.forEach((own, row) => row.classList.toggle("adalib-linked", own === kind));
      for (const div of drawn()) {
        Plotly.restyle(div, { opacity: div.data.map(({ name }) => (!kind || name === kind ? 1 : FAINT)) });
      }
    }

    /** Nothing is pointed at any more: back to the kind that a key has reached, if there is one. */
    function rest() {
      const reached = [...rows.keys()].find((row) => row.querySelector(":focus-visible"));
      mark(reached ? rows.get(reached) : null);
    }

    rows.forEach((kind, row) => {
      for (const event of ["pointerenter", "focusin", "click"]) row.addEventListener(event, () => mark(kind));
      row.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && rest());
      row.addEventListener("focusout", () => mark(null));
    });
    // A figure is drawn when it comes near, so it is asked once the pointer is over it.
    document.addEventListener("pointerover", (event) => {
      const div = event.target.closest?.(".adalib-figure .js-plotly-plot");
      if (!div || div.dataset.linked || !drawn().includes(div)) return;
      div.dataset.linked = "true";
      div.on("plotly_hover", ({ points }) => mark(points[0].data.name));
      div.on("plotly_unhover", rest);
    });
    // A tap elsewhere lets go.
    document.addEventListener("click", (event) => {
      if (![...rows.keys()].some((row) => row.contains(event.target)) && !event.target.closest(".adalib-figure")) mark(null);
    });
  }

  document.addEventListener("DOMContentLoaded", start);
})();
