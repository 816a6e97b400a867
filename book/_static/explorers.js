// Brings an explorer when it comes near the screen: its program and its settings are files of their own, which
// book/press/offline.py wrote. A link to a view of the explorer brings it at once.
(function () {
  "use strict";

  const FOLDER = new URL("explorer/", document.currentScript.src || document.baseURI);
  const file = (name) => new URL(`${name}.js`, FOLDER).href;

  const brought = new WeakSet();

  const names = ({ dataset: { program, settings } }) => [program, settings];
  const promises = {};
  const fetched = (root) => Promise.all(names(root).map((name) => (promises[name] ??= fetchScript(file(name)))));

  function show(root) {
    if (brought.has(root)) return;
    brought.add(root);
    window.adalibExplorer(root, window.adalibSettings[root.dataset.settings]);
  }

  const bring = (root) => brought.has(root) || fetched(root).then(() => show(root));

  /** A browser that prints does not wait. */
  function print(root) {
    if (!window.adalibSettings?.[root.dataset.settings]) names(root).forEach((name) => scriptNow(file(name)));
    if (window.adalibSettings?.[root.dataset.settings]) show(root);
  }

  /** Whether the address names a view of the explorer, as a link from the text does. */
  const isAsked = () => ["lambda", "budget", "set"].some((key) => new URLSearchParams(location.hash.slice(1)).has(key));

  document.addEventListener("DOMContentLoaded", () => {
    const roots = [...document.querySelectorAll(".adalib-explorer[data-settings]")];
    if (location.protocol === "file:") roots.forEach(fetched); // nothing is slow there, and scriptNow may not read
    const answer = () => isAsked() && roots.forEach(bring);
    window.addEventListener("hashchange", answer);
    answer();
    window.addEventListener("beforeprint", () => roots.forEach(print));
    whenNear(roots, (near) => near.forEach(bring));
  });
})();
