// Games in JupyterLab: anywidget brings the model, and the Lab keeps its address for itself.

const HAS_ADDRESS = false;
const kept = () => () => {};

/** A host around a game's own `render`: its place. The notebook has the caption, with its number. */
function hosted({ model, el }) {
  // A form of its own, so that buttons of one choice do not meet those of a copy of the game in the same window.
  const place = element("form", { className: `adalib-${model.get("name")}` });
  place.addEventListener("submit", (event) => event.preventDefault());
  // JupyterLab hears every key before we do, and an arrow would leave the cell. It asks the element that has the focus.
  place.addEventListener("focusin", ({ target }) => (target.dataset.lmSuppressShortcuts = "true"));
  el.append(element("div", { className: "adalib-game adalib-lab" }, place));
  return render({ model, el: place });
}

export default { render: hosted };
