// Brings an explorer when it comes near the screen: its program and its settings are files of their own, which
// book/press/explorer_files.py wrote. A link to a view of the explorer brings it at once.
(function () {
  "use strict";

  const FOLDER = new URL("explorer/", document.currentScript.src);
  const file = (name) => new URL(`${name}.js`, FOLDER).href;

  const brought = new WeakSet();

  async function bring(root) {
    if (brought.has(root)) return;
    brought.add(root);
    const { program, settings } = root.dataset;
    await Promise.all([fetchScript(file(program)), fetchScript(file(settings))]);
    window.adalibExplorer(root, window.adalibSettings[settings]);
  }

  /** Whether the address names a view of the explorer, as a link from the text does. */
  const isAsked = () => ["lambda", "budget", "set"].some((key) => new URLSearchParams(location.hash.slice(1)).has(key));

  document.addEventListener("DOMContentLoaded", () => {
    const roots = [...document.querySelectorAll(".adalib-explorer[data-settings]")];
    const answer = () => isAsked() && roots.forEach(bring);
    window.addEventListener("hashchange", answer);
    answer();
    whenNear(roots, (near) => near.forEach(bring));
  });
})();
