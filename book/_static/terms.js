// What a term means and what a citation stands for, in the theme's own pop-up, on hover and on focus. A finger sees it at the
// first tap and follows the link at the second. This runs before the theme's script, which looks for the mark once.
(function () {
  "use strict";

  const EXPLAINED = "a.adalib-term[title], .bibtex-citation a[title]";

  document.querySelectorAll(EXPLAINED).forEach((link) => (link.dataset.bsToggle = "tooltip"));
  let told = null;
  document.addEventListener("click", (event) => {
    const link = event.target.closest(":is(.adalib-term, .bibtex-citation a)[data-bs-toggle]");
    if (link && link !== told && event.pointerType === "touch") {
      event.preventDefault();
      link.focus();
    }
    told = link;
  });
})();
