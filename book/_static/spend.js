// Spend the answers: the game of the welcome page (games.spend). Every tile is a real question, filled as far
// as its vote is right; the pale part is what the largest vote would reach. Every question starts with one answer. A tap, or
// a finger or mouse drawn over several tiles, gives or takes answers, and the first of three meters follows.
(function () {
  "use strict";

  const { element, button, everywhere, kept, still } = window.adalibParts;

  const NARROW = "(max-width: 600px)"; // a smaller hand for a phone
  const TURN = 14; // milliseconds a tile when the price plays
  const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;
  const points = (share) => `${(100 * share).toFixed(1).replace("-", "−")}`;

  // The plan in the page's address, a digit per question; a link made on a phone shows the phone's questions everywhere.
  const linked = () => new URLSearchParams(location.hash.slice(1)).get("spend") || "";

  function play(root, { budgets, colours, hands }) {
    const game = hands.find(({ questions }) => questions.length === linked().length) || hands[matchMedia(NARROW).matches ? 1 : 0];
    const start = game.questions.map(() => 0); // one answer each
    const extra = game.total - start.length; // answers to hand out beyond the first ones
    const labels = [...start];
    let yours = null; // the reader's own plan, while the tiles show that of the price
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
    const result = status("p", "spend-result");

    const spent = (plan = labels) => plan.reduce((sum, label) => sum + budgets[label], 0);
    const score = (plan) => plan.reduce((sum, label, row) => sum + game.scored[row][label], 0) / (10000 * plan.length);

    // --- meters ------------------------------------------------------------------------------------------------------

    const lowest = Math.floor(20 * score(start)) / 20;
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
    const alike = meter("at random", "alike");
    const priced = meter("one price", "priced");
    const axis = element("div", { className: "spend-axis" }, element("span", {}, percent(lowest, 0)), "questions right", element("span", {}, percent(highest, 0)));
    const meters = element("div", { className: "spend-meters" }, you.node, alike.node, priced.node, axis);
    alike.set(game.mix_accuracy);
    priced.set(game.oracle_accuracy);

    // While the tiles show the plan of the price, the reader's own score stays where it was, as a ring.
    function tell(fault) {
      left.textContent = fault || `${game.total - spent()} of ${extra} extra answers left`;
      left.classList.toggle("spend-fault", Boolean(fault));
      you.node.classList.toggle("spend-ghost", Boolean(yours));
      you.set(score(yours || labels));
      result.textContent = yours ? compared() : "";
      priceIt.textContent = yours ? "Back to mine" : "Price it";
    }
    const found = () => `${points(score(yours || labels) - score(start))} of the ${points(game.oracle_accuracy - score(start))} points`;
    const compared = () => `You found ${found()} that the price finds. It buys answers wherever each adds at least ${points(game.price)} points.`;

    // --- tiles -------------------------------------------------------------------------------------------------------

    function paint(row) {
      const tile = tiles[row];
      const budget = budgets[labels[row]];
      tile.textContent = budget > 1 ? budget : "";
      // On a dark page the cheapest budget steps back, so that the tiles that got more are the bright ones.
      tile.style.setProperty("--colour", labels[row] ? colours[labels[row]] : "var(--spend-cheapest)");
      tile.style.setProperty("--now", `${game.seen[row][labels[row]] / 100}%`);
      tile.setAttribute("aria-label", `Question ${row + 1}: ${budget} answer${budget === 1 ? "" : "s"}`);
    }

    // What a tile says stands below the field, always in the same place, so that it covers no tile.
    function look(row) {
      tiles[at].tabIndex = -1;
      at = row;
      tiles[at].tabIndex = 0;
      const curve = budgets.map((budget, k) => element("span", { className: k === labels[row] ? "spend-has" : "" }, `${budget}: ${percent(game.seen[row][k] / 10000, 0)}`));
      said.replaceChildren(game.questions[row], element("small", {}, "right with a vote of ", ...curve));
    }

    // Gives what is left to give, or says why it cannot.
    function give(row, label) {
      const more = budgets[label] - budgets[labels[row]];
      const rest = game.total - spent();
      if (more > rest) return tell(`${more} needed, ${rest} left. Tap a numbered tile to free some.`);
      labels[row] = label;
      paint(row);
      tell();
    }
    // What the reader does ends the turn of the price, and the plan on the tiles becomes the reader's.
    function take(row, label) {
      playing += 1;
      yours = null;
      give(row, label);
      keep(labels.join(""));
    }

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
        stroke.painting = true;
        take(stroke.from, stroke.label);
      }
      if (labels[row] !== stroke.label) take(row, stroke.label);
    }
    function tap(row) {
      if (stroke?.painting) return (stroke = null); // the end of a stroke is no tap
      take(row, swapped(row));
      look(row);
    }
    function move(event) {
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
      tile.addEventListener("click", () => tap(row));
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
    document.addEventListener("pointerup", () => setTimeout(() => (stroke = null))); // after the click that may follow
    document.addEventListener("pointercancel", () => (stroke = null));

    const brushes = budgets.slice(1).map((budget, index) => {
      const input = element("input", { type: "radio", name: "spend-brush", checked: index + 1 === brush });
      input.addEventListener("change", () => (brush = index + 1));
      return element("label", {}, input, String(budget));
    });
    const brushBox = element("div", { className: "adalib-controls adalib-choice" }, "A tap gives", ...brushes, "answers");
    brushBox.setAttribute("role", "radiogroup");
    brushBox.setAttribute("aria-label", "answers that a tap gives");

    // --- by price ----------------------------------------------------------------------------------------------------

    async function turn(plan) {
      const mine = ++playing;
      tell();
      // First what is taken back, then what is given: the budget is never passed.
      const gain = (row) => budgets[plan[row]] - budgets[labels[row]];
      const rows = plan.map((_, row) => row).filter(gain).sort((a, b) => (gain(a) > 0) - (gain(b) > 0) || a - b);
      for (const row of rows) {
        if (!still()) await new Promise((go) => setTimeout(go, TURN));
        if (playing !== mine) return;
        give(row, plan[row]);
      }
    }
    const priceIt = button("Price it", () => {
      const plan = yours || game.oracle;
      yours = yours ? null : [...labels];
      turn(plan);
    });
    const again = button("Start again", () => {
      yours = null;
      turn(start);
      keep(start.join(""));
    });

    // --- the plan in a link ------------------------------------------------------------------------------------------

    const keep = kept(root, "spend", (text) => {
      const plan = [...text].map(Number);
      if (plan.length !== labels.length || !plan.every((label) => label in budgets) || spent(plan) > game.total) return;
      labels.splice(0, labels.length, ...plan);
      yours = null;
      labels.forEach((_, row) => paint(row));
      tell();
    });
    async function share() {
      const plan = (yours || labels).join("");
      const link = `${location.href.split("#")[0]}#spend=${plan}`;
      const words = `I found ${found()} that one price finds. Can you find more?`;
      try {
        await (navigator.share ? navigator.share({ text: words, url: link }) : navigator.clipboard.writeText(`${words} ${link}`));
        result.textContent = navigator.share ? "" : "Your score and a link to your plan are on the clipboard.";
      } catch {
        result.textContent = `This link shows your plan: ${link}`; // a page may be kept from the clipboard
      }
    }

    const actions = element("div", { className: "spend-actions" }, priceIt, again, button("Share", share));
    const legend = element("p", { className: "spend-legend" }, `Lower part of a tile: how often the vote is right. Upper part: what ${budgets.at(-1)} answers would reach.`);
    said.textContent = "Point at a tile, or tap one, to read its question.";
    const field = element("div", { className: "spend-field" }, brushBox, left, grid, legend, said);
    root.replaceChildren(field, element("div", { className: "spend-side" }, meters, actions, result));
    tiles.forEach((_, row) => paint(row));
    tell();
  }

  everywhere("spend", play);
})();
