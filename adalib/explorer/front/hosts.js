// The two hosts: a static page, which JupyterLab can show too, and Jupyter through anywidget.

/** Static page: the settings lie in a JSON script next to the root. JupyterLab keeps its address for itself. */
function mountStatic(id) {
  const root = document.getElementById(id);
  return new Explorer(root, JSON.parse(document.getElementById(`${id}-data`).textContent), { address: !root.closest(".jp-OutputArea") });
}

/** Jupyter: traits lam, budget and selected are kept in step with the page. */
function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  const keys = ["lam", "budget", "selected"];
  const start = Object.fromEntries(keys.map((key) => [key, model.get(key)]));
  const tell = (state) => {
    keys.forEach((key) => model.set(key, state[key]));
    model.save_changes();
  };
  const explorer = new Explorer(root, model.get("_settings"), { ...start, files: false, address: false, changed: tell });
  const { state } = explorer;
  const moved = (change) => {
    explorer.move(change, { silent: true });
    tell(state);
  };
  const follow = {
    // A budget asked for in Python sets the price, and a price set in Python lets go of the budget.
    lam: () => model.get("lam") !== state.lam && moved({ lam: model.get("lam"), budget: null }),
    budget: () => model.get("budget") !== state.budget && moved({ budget: model.get("budget") }),
    selected: () => model.get("selected") !== state.selected && moved({ selected: model.get("selected") }),
  };
  if (start.budget !== null) moved({});
  keys.forEach((key) => model.on(`change:${key}`, follow[key]));
  return () => {
    keys.forEach((key) => model.off(`change:${key}`, follow[key]));
    explorer.destroy();
  };
}

export default { render };
