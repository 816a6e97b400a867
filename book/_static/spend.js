// Spend the answers: the game of the welcome page (games.spend). Every tile is a real question, filled as far
// as its vote is right; the pale part is what the largest vote would reach. The answers are dealt alike for all. A tap, or
// a finger or mouse drawn over several tiles, gives or takes answers, and the first of three meters follows.
(function () {
  "use strict";

  const { element, button, everywhere, still } = window.adalibParts;

  const NARROW = "(max-width: 600px)"; // a smaller hand for a phone
  const TURN = 14; // milliseconds a tile when the price plays
  const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;

  function play(root, { budgets, colours, hands }) {
    const game = hands[matchMedia(NARROW).matches ? 1 : 0];
    const labels = [...game.start];
    let brush = 2;
    let at = 0;
    let playing = 0; // the turn of the price, if it plays

    const status = (tag, className) => {
      const made = element(tag, { className });
      made.setAttribute("role", "status");
      return made;
    };
    const left = status("p", "spend-left");
    const said = status("div", "spend-said");

    const spent = () => labels.reduce((sum, label) => sum + budgets[label], 0);
    const score = (plan) => plan.reduce((sum, label, row) => sum + game.scored[row][label], 0) / (10000 * plan.length);

    // --- meters ------------------------------------------------------------------------------------------------------

    const lowest = Math.floor(20 * score(labels.map(() => 0))) / 20;
    const highest = Math.ceil(20 * game.oracle_accuracy) / 20;
    const place = (share) => `${(100 * (Math.min(highest, Math.max(lowest, share)) - lowest)) / (highest - lowest)}%`;

    function meter(name, kind) {
      const value = element("strong");
      const dot = element("span", { className: "spend-dot" });
      const node = element("div", { className: `spend-meter spend-${kind}` }, element("span", {}, name), value, element("div", { className: "spend-track" }, dot));
      const set = (share) => {
        value.textContent = percent(share);
        dot.style.left = place(share);
      };
      return { node, set };
    }
    const you = meter("you", "you");
    const alike = meter("by lot", "alike");
    const priced = meter("by price", "priced");
    const axis = element("div", { className: "spend-axis" }, element("span", {}, percent(lowest, 0)), "of votes right", element("span", {}, percent(highest, 0)));
    const meters = element("div", { className: "spend-meters" }, you.node, alike.node, priced.node, axis);
    alike.set(game.mix_accuracy);
    priced.set(game.oracle_accuracy);

    function tell(words) {
      const rest = game.total - spent();
      left.textContent = words || `${rest} of ${game.total} answers left${rest ? "" : ": tap a numbered tile to take its answers back"}`;
      you.set(score(labels));
    }

    // --- tiles -------------------------------------------------------------------------------------------------------

    function paint(row) {
      const tile = tiles[row];
      const budget = budgets[labels[row]];
      tile.textContent = budget > 1 ? budget : "";
      tile.style.setProperty("--colour", colours[labels[row]]);
      tile.style.setProperty("--now", `${game.seen[row][labels[row]] / 100}%`);
      tile.setAttribute("aria-label", `Question ${row + 1}: ${budget} answer${budget === 1 ? "" : "s"}`);
    }

    // What a tile says stands next to it, inside the field.
    function look(row, words = "") {
      tiles[at].tabIndex = -1;
      at = row;
      const tile = tiles[at];
      tile.tabIndex = 0;
      const curve = budgets.map((budget, k) => element("span", { className: k === labels[row] ? "spend-has" : "" }, `${budget}: ${percent(game.seen[row][k] / 10000, 0)}`));
      said.replaceChildren(words && element("strong", {}, words), game.questions[row], element("small", {}, "right with a vote of ", ...curve));
      said.hidden = false;
      const room = grid.clientWidth - said.offsetWidth;
      said.style.left = `${Math.max(0, Math.min(room, tile.offsetLeft - grid.offsetLeft - 20))}px`;
      said.style.top = `${tile.offsetTop + tile.offsetHeight + 6}px`;
    }
    const hush = () => (said.hidden = true);

    // Gives what is left to give; else says why not.
    function give(row, label) {
      const more = budgets[label] - budgets[labels[row]];
      const rest = game.total - spent();
      const fault = more > rest ? `That takes ${more} more, and ${rest} ${rest === 1 ? "is" : "are"} left. Tap a numbered tile to take its answers back.` : "";
      if (!fault) labels[row] = label;
      paint(row);
      tell(fault);
      return fault;
    }
    const stop = () => (playing += 1); // whatever the reader does ends the turn of the price

    // --- by hand: taps, strokes, keys --------------------------------------------------------------------------------

    let stroke = null; // { from, label } while a pointer is down; painting once it has reached a second tile
    const under = (event) => tiles.indexOf(document.elementFromPoint(event.clientX, event.clientY));
    const swapped = (row) => (labels[row] === brush ? 0 : brush);

    function down(event) {
      const row = tiles.indexOf(event.target);
      if (row >= 0 && !event.button) stroke = { from: row, label: swapped(row), painting: false };
    }
    function drawn(event) {
      const row = under(event);
      if (!stroke || row < 0 || (row === stroke.from && !stroke.painting)) return;
      // A finger that moves up or down scrolls the page.
      if (!stroke.painting && event.pointerType !== "mouse" && tiles[row].offsetTop !== tiles[stroke.from].offsetTop) return (stroke = null);
      if (!stroke.painting) {
        stop();
        hush();
        stroke.painting = true;
        give(stroke.from, stroke.label);
      }
      if (labels[row] !== stroke.label) give(row, stroke.label);
    }
    function tap(row, how) {
      if (stroke?.painting) return (stroke = null); // the end of a stroke is no tap
      stop();
      look(row, give(row, swapped(row)));
      if (how === "touch") setTimeout(() => at === row && hush(), 4000); // a finger does not leave, as a mouse does
    }
    function move(event) {
      if (event.key === "Escape") return hush();
      const second = tiles.findIndex((tile) => tile.offsetTop > tiles[0].offsetTop);
      const across = second < 0 ? tiles.length : second;
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
      if (!(event.key in steps)) return;
      event.preventDefault();
      const next = at + steps[event.key];
      if (next >= 0 && next < tiles.length) look(next);
      tiles[at].focus();
    }

    const tiles = game.questions.map((_, row) => {
      const tile = element("button", { type: "button", className: "spend-tile", tabIndex: row ? -1 : 0 });
      tile.style.setProperty("--best", `${Math.max(...game.seen[row]) / 100}%`);
      tile.addEventListener("click", (event) => tap(row, event.pointerType));
      tile.addEventListener("focus", () => tile.matches(":focus-visible") && look(row));
      tile.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && !stroke?.painting && look(row));
      return tile;
    });
    const grid = element("div", { className: "spend-grid" }, ...tiles);
    grid.setAttribute("role", "group");
    grid.setAttribute("aria-label", `${tiles.length} questions, easiest level first; arrow keys move, Enter gives or takes`);
    grid.addEventListener("keydown", move);
    grid.addEventListener("pointerdown", down);
    grid.addEventListener("pointermove", drawn);
    grid.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hush());
    document.addEventListener("pointerup", () => setTimeout(() => (stroke = null))); // after the click that may follow
    document.addEventListener("pointercancel", () => (stroke = null));
    document.addEventListener("pointerdown", (event) => root.contains(event.target) || hush());

    const brushes = budgets.slice(1).map((budget, index) => {
      const input = element("input", { type: "radio", name: "spend-brush", checked: index + 1 === brush });
      input.addEventListener("change", () => (brush = index + 1));
      return element("label", {}, input, String(budget));
    });
    const brushBox = element("div", { className: "adalib-controls adalib-choice" }, "A tap gives", ...brushes, "answers");
    brushBox.setAttribute("role", "radiogroup");
    brushBox.setAttribute("aria-label", "answers that a tap gives");

    // --- by price ----------------------------------------------------------------------------------------------------

    async function turn(plan, words) {
      stop();
      hush();
      const mine = playing;
      // First what is taken back, then what is given: the budget is never passed.
      const gain = (row) => budgets[plan[row]] - budgets[labels[row]];
      const rows = plan.map((_, row) => row).filter(gain).sort((a, b) => (gain(a) > 0) - (gain(b) > 0) || a - b);
      for (const row of rows) {
        if (!still()) await new Promise((go) => setTimeout(go, TURN));
        if (playing !== mine) return;
        give(row, plan[row]);
      }
      tell(words);
    }
    const actions = element(
      "div",
      { className: "spend-actions" },
      button("Price it", () => turn(game.oracle, `One price, ${percent(game.price, 2).replace("%", "")} points per answer, spends the same ${game.total} answers.`)),
      button("Start again", () => turn(game.start)),
    );

    const legend = element("p", { className: "spend-legend" }, `Lower part: how often the vote is right. Upper part: what ${budgets.at(-1)} answers would reach.`);
    const field = element("div", { className: "spend-field" }, brushBox, grid, legend, said);
    root.replaceChildren(field, element("div", { className: "spend-side" }, meters, left, actions));
    tiles.forEach((_, row) => paint(row));
    hush();
    tell();
  }

  everywhere("spend", play);
})();
