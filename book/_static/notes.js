// Two kinds of word open a note, by mouse, finger or keyboard: a number that a cell computed (book/_ext/origins.py) says which
// cell, and what is checked; a word of the glossary (book/_ext/terms.py) says what it means.
(function () {
  "use strict";

  const note = Object.assign(document.createElement("div"), { className: "adalib-note", tabIndex: -1 });
  note.setAttribute("role", "note");

  let opened = null;

  function close() {
    note.remove();
    return opened;
  }

  function linked(text, place) {
    const link = Object.assign(document.createElement("a"), { href: `#${place.id}`, textContent: text });
    link.addEventListener("click", () => {
      place.querySelectorAll("details").forEach((fold) => (fold.open = true));
      close();
    });
    return link;
  }

  function tellOrigin(number) {
    const cell = document.querySelector(number.getAttribute("href"));
    const checked = document.querySelector("section#checked");
    note.replaceChildren("The build computed this number in ", linked("this cell", cell), ".");
    if (checked) note.append(" What the chapter asserts about its numbers is under ", linked("Checked", checked), ".");
  }

  function tellMeaning(word) {
    const link = Object.assign(document.createElement("a"), { href: word.href, textContent: "Glossary" });
    note.replaceChildren(`${word.title} `, link, ".");
  }

  function open(word) {
    if (word.matches(".adalib-term")) tellMeaning(word);
    else tellOrigin(word);
    (word.closest("p") || word).after(note); // below the paragraph, so that the sentence stays whole
    opened = word;
    note.focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in a new tab
    const word = event.target.closest?.("a.adalib-origin, a.adalib-term");
    if (word) event.preventDefault();
    const shown = note.isConnected && !note.contains(event.target) ? close() : null;
    if (word && word !== shown) open(word);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && note.isConnected) close()?.focus();
  });
})();
