// The state picture (games.states): votes of the leader across, of the runner-up down; blue goes on, grey
// stops, at the price of the slider.

function render({ model, el }) {
  const data = model.get("data");
  const most = data.most;
  const chosen = { text: 0, certainty: 0 };
  const said = element("p", { className: "stop-board" });
  said.setAttribute("role", "status");
  const slider = element("input", { type: "range", min: 0, max: data.prices.length - 1, step: 1, value: data.start });
  slider.setAttribute("aria-label", "price λ");
  const told = element("output");
  const cells = [];
  const table = element("table", { className: "states-grid" });
  const head = element("tr", {}, element("th", {}, "runner-up ↓", element("br"), "leader →"));
  for (let leader = 1; leader <= most; leader += 1) head.append(element("th", { scope: "col" }, String(leader)));
  table.append(head);
  for (let runner = 0; runner < most; runner += 1) {
    const line = element("tr", {}, element("th", { scope: "row" }, String(runner)));
    for (let leader = 1; leader <= most; leader += 1) {
      const cell = element("td");
      if (leader >= runner) cells.push({ cell, leader, runner });
      line.append(cell);
    }
    table.append(line);
  }

  function draw() {
    const price = data.prices[Number(slider.value)];
    const limit = data.limits[chosen.text][chosen.certainty];
    let going = 0;
    let known = 0;
    cells.forEach(({ cell, leader, runner }) => {
      const most = limit[runner][leader - 1];
      const go = most >= price;
      cell.className = cell.textContent = cell.title = "";
      if (most === null) return; // hardly any question was ever here
      known += 1;
      going += go;
      cell.className = go ? "states-go" : "states-stop";
      cell.textContent = go ? "go" : "stop";
      cell.title = `${leader} to ${runner}: ${go ? "go on" : "stop"}`;
    });
    told.textContent = `price λ = ${price.toFixed(4)}`;
    slider.setAttribute("aria-valuetext", told.textContent);
    said.textContent = `Go on in ${going} of ${known} states.`;
  }

  // The same controls as below the book's figures: a row of buttons, and a slider that says where it stands.
  function choice(name) {
    const group = `states-${name}`;
    const box = element("div", { className: "adalib-controls adalib-choice" }, element("span", { id: group }, name));
    box.setAttribute("role", "radiogroup");
    box.setAttribute("aria-labelledby", group);
    data[name].forEach((text, value) => {
      const input = element("input", { type: "radio", name: group, value, checked: value === 0 });
      input.addEventListener("change", () => {
        chosen[name] = value;
        draw();
      });
      box.append(element("label", {}, input, text));
    });
    return box;
  }

  slider.addEventListener("input", draw);
  const price = element("div", { className: "adalib-controls adalib-slider" }, told, slider);
  const controls = element("div", {}, price, choice("text"), choice("certainty"));
  el.replaceChildren(controls, element("div", { className: "adalib-scroll" }, table), said);
  draw();
}
