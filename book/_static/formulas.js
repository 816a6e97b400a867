// Typesets the formulas when they come near the screen, and fetches MathJax for the first of them. All at once they keep
// a long page busy for seconds.
(function () {
  "use strict";

  const LIBRARY = new URL("lib/mathjax/startup.js", document.currentScript.src).href;

  let library = null;
  function loaded() {
    library ??= fetchScript(LIBRARY).then(() => MathJax.startup.promise); // it fetches its parts by itself
    return library;
  }

  // Once all its parts are there, MathJax works at once: as it must when a browser is about to print.
  let there = false;
  window.addEventListener("adalib-quiet", () => loaded().then(() => MathJax.typesetPromise([])).then(() => (there = true)));
  let printing = false;
  for (const [event, is] of [["beforeprint", true], ["afterprint", false]]) window.addEventListener(event, () => (printing = is));

  let queue = Promise.resolve();
  /** Typeset the formulas inside these elements; other scripts call it for what they put on the page later. */
  window.typesetFormulas = (elements) => {
    if (printing && there) return MathJax.typeset(elements);
    queue = queue
      .then(loaded)
      .then(() => MathJax.typesetPromise(elements))
      .then(() => window.dispatchEvent(new Event("adalib-typeset")))
      .catch((error) => console.error(error));
  };

  document.addEventListener("DOMContentLoaded", () => whenNear(document.querySelectorAll(".math"), typesetFormulas));
})();
