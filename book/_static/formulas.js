// Typesets the formulas when they come near the screen. All at once they keep a long page busy for seconds.
(function () {
  "use strict";

  const NEAR = "900px 0px"; // about a screen ahead

  async function start() {
    await MathJax.startup.promise;
    let queue = Promise.resolve();
    const waiting = new Set(document.querySelectorAll(".math"));
    const typeset = (formulas) => {
      const some = formulas.filter((formula) => waiting.delete(formula));
      if (!some.length) return;
      queue = queue.then(() => MathJax.typesetPromise(some)).then(() => window.dispatchEvent(new Event("adalib-typeset")));
    };
    const near = new IntersectionObserver(
      (entries) => {
        const arrived = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
        arrived.forEach((formula) => near.unobserve(formula));
        typeset(arrived);
      },
      { rootMargin: NEAR },
    );
    waiting.forEach((formula) => near.observe(formula));
    window.addEventListener("beforeprint", () => typeset([...waiting]));
  }

  document.addEventListener("DOMContentLoaded", start);
})();
