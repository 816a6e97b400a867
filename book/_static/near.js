// When is it time to draw? What a page shows at once is drawn at once. The rest waits for a sign of the reader; from then
// on it is drawn when it comes near the screen, before the reader arrives.
(function () {
  "use strict";

  const AHEAD = "900px 0px"; // about a screen
  const SIGNS = ["scroll", "wheel", "touchstart", "pointermove", "keydown"];

  /** Run a script of the book that only some readers need; the promise is kept once it ran. */
  window.fetchScript = (src) =>
    new Promise((done, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src, onload: done, onerror: failed });
      document.head.append(script);
    });

  /** Call with those of the elements, each once, whose time has come. */
  window.whenNear = (elements, call) => {
    const waiting = new Set(elements);
    const watch = (margin) => {
      const observer = new IntersectionObserver(
        (entries) => {
          const come = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
          come.forEach((element) => observer.unobserve(element));
          const first = come.filter((element) => waiting.delete(element));
          if (first.length) call(first);
        },
        { rootMargin: margin },
      );
      waiting.forEach((element) => observer.observe(element));
      return observer;
    };
    const onScreen = watch("0px");
    const signs = new AbortController();
    const arrive = () => {
      signs.abort();
      onScreen.disconnect();
      watch(AHEAD);
    };
    for (const sign of SIGNS) window.addEventListener(sign, arrive, { passive: true, signal: signs.signal });
    window.addEventListener("beforeprint", () => {
      const rest = [...waiting].filter((element) => element.isConnected); // a quiz keeps its explanations to itself
      waiting.clear();
      if (rest.length) call(rest);
    });
  };
})();
