// Spend the answers: the game of the welcome page (games.spend). Every tile is a real question, filled as far as its vote
// is right; the part above the line is what a tap would add. Every question starts with one answer. A tap, or a
// finger or mouse drawn over several tiles, gives or takes answers, and the first of three bars follows. What the price
// finds is shown once all answers are handed out, or once it has played.

const TURN = 30; // milliseconds a tile when the price plays
const MOST = 20; // questions of which the closing sentence speaks: those that the largest vote helps most
const points = (share) => (100 * share).toFixed(1).replace("-", "−");
const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

function render({ model, el }) {
  const { budgets, colours, total, questions, seen, scored, oracle, price, oracle_accuracy, mix_accuracy } = model.get("data");
  const start = questions.map(() => 0); // one answer each
  const extra = total - start.length; // answers to hand out beyond the first ones
  const labels = [...start];
  let yours = null; // the reader's own plan, while the tiles show that of the price
  let brush = 2;
  let at = 0;
  let playing = 0; // the turn of the price, if it plays
  let revealed = false; // whether the score of the price may be seen

  const left = status("p", "spend-left");
  const said = status("div", "spend-said");
  const result = status("p", "spend-result");

  const spent = (plan = labels) => plan.reduce((sum, label) => sum + budgets[label], 0);
  const score = (plan) => plan.reduce((sum, label, row) => sum + scored[row][label], 0) / (10000 * plan.length);

  // --- bars: what is gained over one answer each -----------------------------------------------------------------------

  const first = score(start);
  const most = oracle_accuracy - first;

  function meter(name, kind) {
    const value = element("strong");
    const bar = element("span", { className: "spend-bar" });
    const node = element("div", { className: `spend-meter spend-${kind}` }, element("span", {}, name), element("div", { className: "spend-track" }, bar), value);
    const set = (share) => {
      const gain = share - first;
      value.textContent = `${gain < -0.0005 ? "−" : "+"}${points(Math.abs(gain))}`;
      bar.style.width = `${100 * Math.min(1, Math.max(0, gain / most))}%`;
    };
    const hide = () => {
      value.textContent = "?";
      bar.style.width = 0;
    };
    return { node, set, hide };
  }
  const you = meter("you", "you");
  const alike = meter("at random", "alike");
  const priced = meter("one price", "priced");
  const axis = element("p", { className: "spend-axis" }, `points gained over one answer each (${points(first)}%)`);
  const meters = element("div", { className: "spend-meters" }, you.node, alike.node, priced.node, axis);
  alike.set(mix_accuracy);
  priced.hide();

  // While the tiles show the plan of the price, the reader's own score stays where it was, as a frame.
  function tell(fault) {
    const rest = total - spent();
    left.textContent = fault || `${rest} of ${extra} extra answers left`;
    left.classList.toggle("spend-fault", Boolean(fault));
    you.node.classList.toggle("spend-ghost", Boolean(yours));
    you.set(score(yours || labels));
    revealed ||= Boolean(yours) || rest === 0;
    if (revealed) priced.set(oracle_accuracy);
    result.textContent = yours ? answer() : rest ? `Hand out all ${extra}, then let one price play.` : `All spent: you found ${found()}. Now let one price play.`;
    priceIt.textContent = yours ? "Back to mine" : "Price it";
  }
  const found = () => `${points(score(yours || labels) - first)} of the ${points(most)} points that a price finds`;

  // Who gets how many, and why.
  function answer() {
    const having = (label) => oracle.filter((each) => each === label).length;
    const given = budgets.map((budget, label) => [budget, having(label)]).slice(1).filter(([, count]) => count);
    const gap = (row) => Math.max(...seen[row]) - seen[row][0];
    const helped = oracle.map((_, row) => row).sort((one, other) => gap(other) - gap(one)).slice(0, MOST);
    const passed = helped.filter((row) => oracle[row] === 0).length;
    const shunned = passed === MOST ? `The ${MOST} questions` : `${passed} of the ${MOST} questions`;
    return (
      `You found ${found()}. It gives ${given.map(([budget, count]) => `${counted(count, "question")} ${budget} answers each`).join(", ")}; ${having(0)} keep one. ` +
      `It buys where each extra answer adds at least ${points(price)} points. ${shunned} that ${budgets.at(-1)} answers would help most get none, because they rise too slowly.`
    );
  }

  // --- tiles -----------------------------------------------------------------------------------------------------------

  function paint(row) {
    const tile = tiles[row];
    const budget = budgets[labels[row]];
    tile.textContent = budget > 1 ? budget : "";
    tile.style.setProperty("--colour", labels[row] ? colours[labels[row]] : "var(--spend-cheapest)");
    tile.style.setProperty("--now", `${seen[row][labels[row]] / 100}%`);
    tile.style.setProperty("--best", `${Math.max(seen[row][labels[row]], seen[row][brush]) / 100}%`);
    tile.setAttribute("aria-label", `Question ${row + 1}: ${counted(budget, "answer")}`);
  }

  // What a tile says stands below the field, always in the same place, so that it covers no tile.
  function look(row) {
    tiles[at].tabIndex = -1;
    at = row;
    tiles[at].tabIndex = 0;
    said.replaceChildren(curve(row), element("div", {}, questions[row]));
  }

  // How often votes of every size are right: the point of the size that the question has is the large one.
  function curve(row) {
    const shares = seen[row].map((share) => share / 10000);
    const across = (k) => 14 + (k * 132) / (budgets.length - 1);
    const up = (share) => 62 - 50 * share;
    const drawn = shape("svg", { viewBox: "0 0 160 84", role: "img", class: "spend-curve" });
    const percents = shares.map((share) => `${(100 * share).toFixed(0)}%`);
    drawn.setAttribute("aria-label", budgets.map((budget, k) => `votes of ${budget}: ${percents[k]} right`).join(", "));
    drawn.append(shape("path", { d: "M14 12H146M14 62H146", class: "spend-ends" }));
    drawn.append(shape("polyline", { points: shares.map((share, k) => `${across(k)},${up(share)}`).join(" "), class: "spend-line" }));
    shares.forEach((share, k) => {
      const has = k === labels[row];
      const dot = shape("circle", { cx: across(k), cy: up(share), r: has ? 6 : 3.5, class: "spend-dot" });
      dot.style.setProperty("--colour", colours[k]);
      drawn.append(dot, shape("text", { x: across(k), y: 79, class: has ? "spend-has" : "" }, String(budgets[k])));
      if (has) drawn.append(shape("text", { x: across(k), y: up(share) > 30 ? up(share) - 10 : up(share) + 20, class: "spend-has" }, percents[k]));
    });
    return drawn;
  }

  // Gives what is left to give, or says why it cannot.
  function give(row, label) {
    const more = budgets[label] - budgets[labels[row]];
    const rest = total - spent();
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

  // --- by hand: taps, strokes, keys ------------------------------------------------------------------------------------

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

  const tiles = questions.map((_, row) => {
    const tile = element("button", { type: "button", className: "spend-tile", tabIndex: row ? -1 : 0 });
    tile.addEventListener("click", () => tap(row));
    tile.addEventListener("focus", () => tile.matches(":focus-visible") && look(row));
    tile.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && !stroke?.painting && look(row));
    return tile;
  });
  const told = `${tiles.length} questions, easiest level first; arrow keys move, Enter gives or takes`;
  const grid = element("div", { className: "spend-grid", role: "group", ariaLabel: told }, ...tiles);
  grid.addEventListener("keydown", move);
  grid.addEventListener("pointerdown", down);
  grid.addEventListener("pointermove", drawn);
  document.addEventListener("pointerup", () => setTimeout(() => (stroke = null))); // after the click that may follow
  document.addEventListener("pointercancel", () => (stroke = null));

  const brushes = choice("answers that a tap gives", "spend-brush", budgets.slice(1), (at) => {
    brush = at + 1;
    tiles.forEach((_, row) => paint(row));
    more.textContent = adds();
  });
  brushes.inputs[brush - 1].checked = true;
  brushes.box.prepend("A tap gives");
  brushes.box.append("answers");

  // --- by price --------------------------------------------------------------------------------------------------------

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
    if (said.firstElementChild) look(at); // it may have got another number
  }
  const priceIt = button("Price it", () => {
    const plan = yours || oracle;
    yours = yours ? null : [...labels];
    turn(plan);
  });
  const again = button("Start again", () => {
    yours = null;
    turn(start);
    keep(start.join(""));
  });

  // --- the plan in a link ----------------------------------------------------------------------------------------------

  const keep = kept(el, "spend", (text) => {
    const plan = [...text].map(Number);
    if (plan.length !== labels.length || !plan.every((label) => label in budgets) || spent(plan) > total) return;
    labels.splice(0, labels.length, ...plan);
    yours = null;
    labels.forEach((_, row) => paint(row));
    tell();
  });
  async function share() {
    const plan = (yours || labels).join("");
    const link = `${location.href.split("#")[0]}#spend=${plan}`;
    const words = `I found ${found()}. Can you find more?`;
    try {
      await (navigator.share ? navigator.share({ text: words, url: link }) : navigator.clipboard.writeText(`${words} ${link}`));
      result.textContent = navigator.share ? "" : "Your score and a link to your plan are on the clipboard.";
    } catch {
      result.textContent = `This link shows your plan: ${link}`; // a page may be kept from the clipboard
    }
  }

  const actions = element("div", { className: "spend-actions" }, priceIt, again, ...(HAS_ADDRESS ? [button("Share", share)] : []));
  const key = (className, words) => element("span", {}, element("i", { className }), words);
  const adds = () => `what ${budgets[brush]} answers would add`;
  const more = element("span", {}, adds());
  const legend = element("p", { className: "spend-key" }, key("spend-key-now", "right now"), key("spend-key-best", more));
  const field = element("div", { className: "spend-field" }, brushes.box, left, grid, legend, said);
  el.replaceChildren(field, element("div", { className: "spend-side" }, meters, actions, result));
  tiles.forEach((_, row) => paint(row));
  // The first question that a reader sees is the one that gains most from a tap.
  const gains = seen.map((shares) => shares[brush] - shares[0]);
  look(gains.indexOf(Math.max(...gains)));
  tell();
}
