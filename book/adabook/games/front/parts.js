// What the games share. A game's file has one function, `render({ model, el })`: model.get("data") is what Python
// computed, and el is the place to fill. A page (page.js) and JupyterLab (lab.js) call the same one.

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

/** Whether the reader asked for less motion. */
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
