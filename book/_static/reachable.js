// Reachable without a mouse: what scrolls sideways inside itself (long code, wide tables, formulas) takes the focus.
(function () {
  "use strict";

  const KINDS = "pre, div.math, mjx-container, .adalib-scroll, table.dataframe, .pst-scrollable-table-container";

  // Measuring lays out the page: once for all that happens together, and not while it is busy.
  let soon = null;
  function later() {
    clearTimeout(soon);
    soon = setTimeout(mark, 200);
  }

  function mark() {
    for (const box of document.querySelectorAll(`.bd-article :is(${KINDS})`)) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    }
  }

  // The list of references calls itself a list and its entries something else: to a screen reader, a list of nothing.
  window.addEventListener("load", () => {
    document.querySelectorAll(".citation-list[role=list]").forEach((list) => list.removeAttribute("role"));
  });
  for (const event of ["load", "resize", "adalib-typeset"]) window.addEventListener(event, later);
})();
