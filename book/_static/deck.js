// The slides (book/editions/slides.py): one at a time, part by part, by key, by button or by swipe; notes below or in a
// window of their own.
(function () {
  "use strict";

  const slides = [...document.querySelectorAll(".deck-slide")];
  const root = document.documentElement;
  let at = 0;
  let speaker = null;
  const begun = Date.now();

  // The book remembers a reader's theme; where it does not, the system decides.
  function themed() {
    let wanted = null;
    try {
      wanted = localStorage.getItem("theme");
    } catch {
      // a browser may forbid its memory
    }
    const dark = wanted === "dark" || (wanted !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = dark ? "dark" : "light";
  }

  const unseen = (slide) => slide.querySelector(".deck-fragment:not(.is-seen)");

  // The next part of this slide, or the next slide.
  function next() {
    const part = unseen(slides[at]);
    if (part) part.classList.add("is-seen");
    else show(at + 1);
  }

  // The slide before, with all its parts.
  const back = () => show(at - 1, true);

  function show(wanted, whole = false) {
    if (wanted >= slides.length) return;
    at = Math.max(0, wanted);
    slides[at].querySelectorAll(".deck-fragment").forEach((part) => part.classList.toggle("is-seen", whole));
    slides.forEach((slide, i) => slide.classList.toggle("is-shown", i === at));
    document.querySelector(".deck-at").textContent = `${at + 1} / ${slides.length}`;
    slides[at].scrollTop = 0;
    window.dispatchEvent(new Event("resize")); // figures take the room they now have
    speak();
  }

  // What is too tall shrinks as a picture would, also when a formula or a figure comes late, but not below what the
  // last row can read.
  const least = (shown) => (shown.querySelector(".highlight") ? 0.75 : 0.65);
  const watch = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      const slide = target.closest(".deck-slide");
      const smallest = least(target);
      let zoom = Number(target.style.zoom || 1);
      while (slide.clientHeight && slide.scrollHeight > slide.clientHeight + 1 && zoom > smallest) {
        if (zoom === 1) target.style.width = `${target.clientWidth}px`;
        zoom = Math.max(smallest, zoom - 0.05);
        target.style.zoom = zoom;
      }
    }
  });
  const shrinking = [...document.querySelectorAll(".deck-shown")];
  shrinking.forEach((shown) => watch.observe(shown));
  window.addEventListener("resize", (event) => {
    if (event.isTrusted) shrinking.forEach((shown) => (shown.style.zoom = shown.style.width = "")); // it was not ours
  });

  // --- the speaker's window ----------------------------------------------------------------------------------------------

  function speak() {
    if (!speaker || speaker.closed) return;
    const minutes = Math.floor((Date.now() - begun) / 60000);
    const body = speaker.document.body;
    const following = slides[at + 1]?.querySelector("h1").textContent ?? "the end";
    const said = speaker.document.importNode(slides[at].querySelector(".deck-notes"), true);
    said.style.display = "block";
    const head = speaker.document.createElement("h1");
    head.textContent = `${at + 1}. ${slides[at].querySelector("h1").textContent}`;
    const foot = speaker.document.createElement("p");
    foot.textContent = `${minutes} min · next: ${following}`;
    body.replaceChildren(head, foot, said);
  }

  function open() {
    speaker = window.open("", "adalib-speaker", "width=700,height=600");
    if (!speaker) return;
    speaker.document.title = "Speaker's notes";
    speaker.document.body.style.cssText = "font: 20px/1.5 system-ui, sans-serif; margin: 1.5em;";
    speaker.addEventListener("keydown", key);
    speak();
    window.setInterval(speak, 30000);
  }

  // --- keys --------------------------------------------------------------------------------------------------------------

  const ACTS = {
    ArrowRight: next,
    PageDown: next,
    " ": next,
    ArrowLeft: back,
    PageUp: back,
    Home: () => show(0),
    End: () => show(slides.length - 1, true),
    f: () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen()),
    n: () => document.body.classList.toggle("deck-with-notes"),
    s: open,
    o: () => document.body.classList.toggle("deck-all"),
    t: () => (root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"),
    Escape: () => document.activeElement.blur(),
  };

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const held = event.target.closest?.("input, select, textarea, button, summary, a, [tabindex], .adalib-explorer");
    if (held && event.key !== "Escape") return; // a slider keeps its arrows
    const act = ACTS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  document.addEventListener("keydown", key);
  document.querySelectorAll("[data-go]").forEach((button) =>
    button.addEventListener("click", () => {
      (button.dataset.go === "1" ? next : back)();
      button.blur();
    }),
  );
  slides.forEach((slide, i) =>
    slide.addEventListener("click", () => {
      if (document.body.classList.contains("deck-all")) {
        document.body.classList.remove("deck-all");
        show(i);
      }
    }),
  );
  let touched = null;
  document.addEventListener("touchstart", (event) => (touched = event.target.closest("input, .adalib-explorer") ? null : event.touches[0].clientX), { passive: true });
  document.addEventListener("touchend", (event) => {
    const moved = touched === null ? 0 : event.changedTouches[0].clientX - touched;
    if (Math.abs(moved) > 60) (moved < 0 ? next : back)();
  });
  const asked = () => show(Number(/slide=(\d+)/.exec(location.hash)?.[1] ?? at + 1) - 1);
  window.addEventListener("hashchange", () => /slide=/.test(location.hash) && asked());
  themed();
  asked();
})();
