// When is it time to draw? What a page shows at once is drawn at once. The rest waits for a sign of the reader; from then
// on it is drawn when it comes near the screen, before the reader arrives. Whoever prints gets all of it.
(function () {
  "use strict";

  const AHEAD = "900px 0px"; // about a screen
  const SIGNS = ["scroll", "wheel", "touchstart", "pointermove", "keydown"];

  /**
   * Have a script at hand for a browser that prints from its menu: beside the page, where it runs only when it is needed;
   * or run already, from a disk, where scriptNow may not read it.
   */
  window.fetchAhead = (src, run) => {
    if (location.protocol === "file:") run();
    else document.head.append(Object.assign(document.createElement("link"), { rel: "prefetch", as: "script", href: src }));
  };

  /** Run a script of the book that only some readers need; the promise is kept once it ran. */
  window.fetchScript = (src) =>
    new Promise((done, failed) => {
      const script = document.createElement("script");
      Object.assign(script, { src, onload: done, onerror: failed });
      document.head.append(script);
    });

  /** Run a script before the next line, for a browser that prints: it does not wait for what is fetched. */
  window.scriptNow = (src) => {
    if (location.protocol === "file:") return;
    const request = new XMLHttpRequest();
    request.open("GET", src, false);
    request.send();
    document.head.append(Object.assign(document.createElement("script"), { textContent: request.responseText }));
  };

  /** Call at the reader's first sign, when the page has a moment: who moves will soon be elsewhere. */
  window.whenMoved = (call) => {
    const soon = () => (window.requestIdleCallback ?? setTimeout)(() => call());
    for (const sign of SIGNS) window.addEventListener(sign, soon, { passive: true, once: true });
  };

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
    const all = () => {
      const rest = [...waiting].filter((element) => element.isConnected); // a quiz keeps its explanations to itself
      waiting.clear();
      if (rest.length) call(rest);
    };
    window.addEventListener("adalib-draw-all", all);
    window.addEventListener("beforeprint", all);
  };

  // --- print -----------------------------------------------------------------------------------------------------------

  const undone = () => document.querySelector(".plotly-graph-div:not(.js-plotly-plot), .adalib-explorer[data-settings]:empty");

  /** Draw all, then open the browser's dialogue. */
  async function print(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
    const said = document.body.appendChild(Object.assign(document.createElement("p"), { className: "adalib-printing" }));
    said.setAttribute("role", "status");
    said.textContent = "Drawing every figure before printing …";
    window.dispatchEvent(new Event("adalib-draw-all"));
    for (let tries = 0; undone() && tries < 600; tries++) await new Promise((go) => setTimeout(go, 50));
    said.remove();
    window.print();
  }

  // Paper is white, whatever the screen is.
  let theme = null;
  window.addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => (document.documentElement.dataset.theme = theme));

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector(".btn-download-pdf-button");
    button?.removeAttribute("onclick");
    button?.addEventListener("click", print);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "p" && undone()) print(event);
  }, true);
})();
