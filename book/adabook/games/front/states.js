// The state picture (games.states): votes of the leader across, of the runner-up down; blue goes on, grey
// stops, at the price of the slider.

function render({ model, el }) {
  const data = model.get("data");
  const most = data.most;
  const chosen = { text: 0, certainty: 0 };
  const said = status("p", "stop-board");
  const prices = slider("price λ", { min: 0, max: data.prices.length - 1, step: 1, value: data.start }, draw);
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
    const price = data.prices[Number(prices.input.value)];
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
    prices.tell(`price λ = ${price.toFixed(4)}`);
    said.textContent = `Go on in ${going} of ${known} states.`;
  }

  const choices = ["text", "certainty"].map((name) => {
    const { box, inputs } = choice(name, `states-${name}`, data[name], (value) => {
      chosen[name] = value;
      draw();
    });
    inputs[0].checked = true;
    box.prepend(element("span", {}, name));
    return box;
  });
  const controls = element("div", {}, prices.box, ...choices);
  el.replaceChildren(controls, element("div", { className: "adalib-scroll" }, table), said);
  draw();
}
