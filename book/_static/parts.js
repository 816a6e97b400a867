// What the games and pictures of the book share: they make elements, and read the data that Python left beside them.
(function () {
  "use strict";

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  function button(text, act) {
    const made = element("button", { type: "button", className: "spend-button" }, text);
    made.addEventListener("click", act);
    return made;
  }

  // A shape of a picture; its attributes are those of SVG.
  function shape(tag, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // Where adalib.teach.games left a place of this name, play(place, its data); live.js does so for cells that run later.
  const plays = {};
  function everywhere(name, play) {
    plays[name] = play;
    document.addEventListener("DOMContentLoaded", () => {
      for (const root of document.querySelectorAll(`.adalib-${name}`)) play(root, JSON.parse(root.querySelector("script").textContent));
    });
  }

  window.adalibParts = { element, button, shape, everywhere, plays, still: () => matchMedia("(prefers-reduced-motion: reduce)").matches };
})();
