// Reachable without a mouse: what scrolls sideways inside itself (long code, wide tables, formulas) takes the focus.
(function () {
  "use strict";

  const KINDS = "pre, div.math, mjx-container, .adalib-scroll, table.dataframe, .pst-scrollable-table-container";

  function mark() {
    for (const box of document.querySelectorAll(`.bd-article :is(${KINDS})`)) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    }
  }

  // The list of references calls itself a list and its entries something else: to a screen reader, a list of nothing.
  window.addEventListener("load", () => {
    document.querySelectorAll(".citation-list[role=list]").forEach((list) => list.removeAttribute("role"));
  });
  for (const event of ["load", "resize", "adalib-typeset"]) window.addEventListener(event, mark);
})();
