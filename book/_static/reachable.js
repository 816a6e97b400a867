// What scrolls sideways inside itself (long code, wide tables and formulas) can be reached and scrolled with the keyboard.
(function () {
  "use strict";

  const KINDS = "pre, div.math, mjx-container, .adalib-scroll, table.dataframe, .pst-scrollable-table-container";

  function mark() {
    for (const box of document.querySelectorAll(`.bd-article :is(${KINDS})`)) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    }
  }

  for (const event of ["load", "resize", "adalib-typeset"]) window.addEventListener(event, mark);
})();
