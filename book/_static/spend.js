// Spend the answers: the game of the welcome page (adalib.teach.games.spend). Every tile is a real question. It starts with
// one answer; a tap gives it as many as the brush says, another tap takes them back.
(function () {
  "use strict";

  const { element, button, everywhere } = window.adalibParts;

  const percent = (share) => `${(100 * share).toFixed(1)}%`;

  function play(root, game) {
    const labels = game.questions.map(() => 0);
    let brush = 2;
    let at = 0;

    const left = element("strong");
    const meter = element("progress", { max: game.total });
    const said = element("p", { className: "spend-said" });
    const result = element("p", { className: "spend-result" });
    said.setAttribute("role", "status");
    result.setAttribute("role", "status");

    const spent = () => labels.reduce((sum, label) => sum + game.budgets[label], 0);
    const score = (plan) =>
      plan.reduce((sum, label, row) => sum + game.scored[row][label], 0) / (10000 * plan.length);

    function tell() {
      const rest = game.total - spent();
      left.textContent = rest >= 0 ? `${rest} of ${game.total} answers left` : `${-rest} answers too many`;
      meter.value = game.total - rest;
      root.classList.toggle("spend-over", rest < 0);
    }

    function paint(row) {
      const tile = tiles[row];
      const budget = game.budgets[labels[row]];
      tile.textContent = budget > 1 ? budget : "";
      Object.assign(tile.style, { background: game.colours[labels[row]], color: game.inks[labels[row]] });
      tile.setAttribute("aria-label", `Question ${row + 1}, level ${game.levels[row]}: ${budget} answer${budget === 1 ? "" : "s"}`);
    }

    function look(row) {
      tiles[at].tabIndex = -1;
      at = row;
      tiles[at].tabIndex = 0;
      const curve = game.seen[row].map((value, k) => `${game.budgets[k]}: ${percent(value / 10000)}`).join("   ");
      said.replaceChildren(game.questions[row], element("br"), element("small", {}, `Right with … answers  ${curve}`));
    }

    function give(row, label) {
      labels[row] = label;
      paint(row);
    }

    function move(event) {
      const across = Math.max(1, Math.round(grid.clientWidth / tiles[0].offsetWidth));
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
      if (!(event.key in steps)) return;
      event.preventDefault();
      look(Math.min(tiles.length - 1, Math.max(0, at + steps[event.key])));
      tiles[at].focus();
    }

    const tiles = game.questions.map((_, row) => {
      const tile = element("button", { type: "button", className: "spend-tile", tabIndex: row ? -1 : 0 });
      tile.addEventListener("click", () => {
        give(row, labels[row] === brush ? 0 : brush);
        look(row);
        tell();
      });
      tile.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && look(row));
      return tile;
    });
    const grid = element("div", { className: "spend-grid" }, ...tiles);
    grid.setAttribute("role", "group");
    grid.setAttribute("aria-label", `${tiles.length} questions, easiest level first; arrow keys move, Enter gives`);
    grid.addEventListener("keydown", move);

    const brushes = game.budgets.slice(1).map((budget, index) => {
      const input = element("input", { type: "radio", name: "spend-brush", checked: index + 1 === brush });
      input.addEventListener("change", () => (brush = index + 1));
      return element("label", {}, input, String(budget));
    });
    const brushBox = element("div", { className: "adalib-controls adalib-choice" }, "A tap gives", ...brushes, "answers");
    brushBox.setAttribute("role", "radiogroup");
    brushBox.setAttribute("aria-label", "answers that a tap gives");

    const fill = (plan) => plan.forEach((label, row) => give(row, label));
    const compare = () =>
      `Alike for all, the same money gets ${percent(game.mix_accuracy)}; the price gets ${percent(game.oracle_accuracy)}.`;
    const actions = element(
      "div",
      { className: "spend-actions" },
      button("Score me", () => {
        const rest = game.total - spent();
        result.textContent =
          rest < 0 ? `Take ${-rest} answers back first.` : `You: ${percent(score(labels))} right. ${compare()}`;
      }),
      button("Price it", () => {
        fill(game.oracle);
        tell();
        result.textContent = `One price, λ = ${game.price} of accuracy an answer, spends the same ${game.total} answers. ${compare()}`;
      }),
      button("Start again", () => {
        fill(labels.map(() => 0));
        tell();
        result.textContent = "";
      }),
    );

    root.replaceChildren(element("div", { className: "spend-bar" }, left, meter), brushBox, grid, said, actions, result);
    tiles.forEach((_, row) => paint(row));
    look(0);
    tell();
  }

  everywhere("spend", play);
})();
