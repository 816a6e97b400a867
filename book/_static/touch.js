// A finger that scrolls the page may start on a slider: it leaves the slider where it was. Sideways it drags, and a tap
// sets it. (The explorer has the same guard of its own, so that it also works in JupyterLab.)
(function () {
  "use strict";

  const ENOUGH = 8; // pixels that show what a finger wants
  let held = null; // the slider under a finger that has not shown yet what it wants

  function use() {
    const { input } = held;
    held = null;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function undo() {
    held.input.value = held.value;
    held = null;
  }

  document.addEventListener("pointerdown", (event) => {
    const input = event.target.closest?.("input[type=range]");
    const ours = input && event.pointerType === "touch" && !input.closest(".adalib-explorer");
    held = ours ? { input, value: input.value, x: event.clientX, y: event.clientY } : null;
  }, true);
  document.addEventListener("pointermove", (event) => {
    const across = held && Math.abs(event.clientX - held.x);
    if (held && across >= Math.max(ENOUGH, Math.abs(event.clientY - held.y))) use();
  }, true);
  document.addEventListener("pointerup", (event) => {
    if (held) Math.hypot(event.clientX - held.x, event.clientY - held.y) < ENOUGH ? use() : undo();
  }, true);
  document.addEventListener("pointercancel", () => held && undo(), true);
  // Until then nobody hears that it moved.
  document.addEventListener("input", (event) => held && event.target === held.input && event.stopImmediatePropagation(), true);
})();
