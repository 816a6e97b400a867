// A word of the glossary (book/_ext/terms.py) opens a note with its meaning, by mouse, finger or keyboard.
(function () {
  "use strict";

  const note = Object.assign(document.createElement("div"), { className: "adalib-note", tabIndex: -1 });
  note.setAttribute("role", "note");

  let opened = null;

  function close() {
    note.remove();
    return opened;
  }

  function open(word) {
    const link = Object.assign(document.createElement("a"), { href: word.href, textContent: "Glossary" });
    note.replaceChildren(`${word.title} `, link, ".");
    (word.closest("p") || word).after(note); // below the paragraph, so that the sentence stays whole
    opened = word;
    note.focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a new tab
    const word = event.target.closest?.("a.adalib-term");
    if (word) event.preventDefault();
    const shown = note.isConnected && !note.contains(event.target) ? close() : null;
    if (word && word !== shown) open(word);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && note.isConnected) close()?.focus();
  });
})();
