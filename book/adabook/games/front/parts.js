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

// What is heard when it changes.
const status = (tag, className, ...children) => element(tag, { className, role: "status" }, ...children);

// The same controls as below the book's figures: a slider that says where it stands, and a row of buttons.
function slider(label, range, act) {
  const input = element("input", { type: "range", ariaLabel: label, ...range });
  const output = element("output");
  input.addEventListener("input", act);
  const tell = (text) => (output.textContent = input.ariaValueText = text);
  return { input, tell, box: element("div", { className: "adalib-controls adalib-slider" }, output, input) };
}

function choice(label, name, options, act) {
  const inputs = options.map((_, value) => element("input", { type: "radio", name, value }));
  inputs.forEach((input, at) => input.addEventListener("change", () => act(at)));
  const labels = inputs.map((input, at) => element("label", {}, input, String(options[at])));
  return { inputs, box: element("div", { className: "adalib-controls adalib-choice", role: "radiogroup", ariaLabel: label }, ...labels) };
}

// A shape of a picture; its attributes are those of SVG.
const shape = (tag, attributes, ...children) => attribute(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, ...children);

function attribute(made, attributes, ...children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * Drag over a picture: `grab` says what there is at a place, in the picture's own units, or null, and `move` where it goes.
 * Under a finger that holds something the page does not scroll.
 */
function drags(svg, grab, move) {
  const { width, height } = svg.viewBox.baseVal;
  const where = ({ clientX, clientY }) => {
    const box = svg.getBoundingClientRect();
    return [((clientX - box.left) / box.width) * width, ((clientY - box.top) / box.height) * height];
  };
  let held = null;
  svg.addEventListener("touchstart", (event) => grab(...where(event.touches[0])) !== null && event.preventDefault(), { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    held = grab(...where(event));
    if (held !== null) svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => held !== null && move(held, ...where(event)));
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (held = null));
}

/** Whether the reader asked for less motion. */
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
