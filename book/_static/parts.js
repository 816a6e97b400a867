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

  // Where games left a place of this name, play(place, its data); live.js does so for cells that run later.
  const plays = {};
  function everywhere(name, play) {
    plays[name] = play;
    document.addEventListener("DOMContentLoaded", () => {
      for (const root of document.querySelectorAll(`.adalib-${name}`)) play(root, JSON.parse(root.querySelector("script").textContent));
    });
  }

  // What a reader sets stands in the address, #name=value, beside what others keep there: `use` is called with what is found
  // there, now and later, and what comes back writes it. A page that was opened with it shows the place.
  function kept(root, name, use) {
    root.dataset.kept = name; // remember.js leaves it alone
    const view = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    const read = () => {
      if (view().has(name)) use(view().get(name));
    };
    read();
    if (view().has(name)) window.addEventListener("load", () => root.scrollIntoView({ block: "center" }));
    window.addEventListener("hashchange", read);
    let writing = 0;
    return (value) => {
      clearTimeout(writing);
      writing = setTimeout(() => {
        const now = view();
        now.set(name, value);
        try {
          history.replaceState(history.state, "", `#${now}`);
        } catch {
          // a page in a frame may not touch its address
        }
      }, 200);
    };
  }

  window.adalibParts = { element, button, shape, everywhere, kept, plays, still: () => matchMedia("(prefers-reduced-motion: reduce)").matches };
})();
