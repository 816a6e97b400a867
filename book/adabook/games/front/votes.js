// Ask again and again (games.votes): real answers to one question come in one by one, and vote.

const SHOWN = 5; // answers that have a bar of their own
const KINDS = ["right", "commonest wrong answer", "other wrong answer", "no answer read"];

// A shuffle that an address can name: order 0 is the order in which the answers were sampled.
function shuffled(count, order) {
  const places = Array.from({ length: count }, (_, at) => at);
  if (!order) return places;
  let state = order;
  for (let last = count - 1; last > 0; last -= 1) {
    state = (1664525 * state + 1013904223) % 4294967296;
    const other = Math.floor((state / 4294967296) * (last + 1));
    [places[last], places[other]] = [places[other], places[last]];
  }
  return places;
}

function render({ model, el }) {
  const { answers, kinds, right } = model.get("data");
  let [asked, order] = [3, 0];
  let places = shuffled(answers.length, order);

  const tiles = answers.map(() => element("span", { className: "votes-tile" }));
  const grid = element("div", { className: "votes-grid" }, ...tiles);
  const bars = Array.from({ length: SHOWN + 1 }, () => {
    const [name, bar, count] = [element("span"), element("span"), element("strong")];
    return { name, bar, count, row: element("div", { className: "votes-row" }, name, element("div", {}, bar), count) };
  });
  const board = element("div", { className: "votes-bars" }, ...bars.map(({ row }) => row));
  for (const box of [grid, board]) box.ariaHidden = true; // the line below says it in words
  const legend = element("p", { className: "votes-legend" });
  KINDS.forEach((name, kind) => legend.append(element("span", { className: `votes-${kind}` }), `${name} `));
  legend.append("· under each tile, the vote so far");
  const said = status("p", "stop-board");
  const times = slider("answers asked for", { min: 0, max: answers.length, step: 1 }, () => ask(Number(times.input.value)));

  // The votes of the first n answers: [answer, votes, is it right], the most first, and what the vote is worth.
  function vote(n) {
    const votes = new Map();
    places.slice(0, n).forEach((at) => answers[at] && votes.set(answers[at], (votes.get(answers[at]) ?? 0) + 1));
    const ranked = [...votes].sort(([, one], [, two]) => two - one);
    const leaders = ranked.filter(([, count]) => count === ranked[0][1]).map(([answer]) => answer);
    return { ranked, leaders, worth: leaders.includes(right) ? 1 / leaders.length : 0 };
  }

  function sentence({ ranked, leaders, worth }) {
    if (!asked) return "Nothing asked yet.";
    const told = `After ${asked} answer${asked === 1 ? "" : "s"}, `;
    if (!leaders.length) return `${told}none could be read.`;
    const votes = `${ranked[0][1]} vote${ranked[0][1] === 1 ? "" : "s"}`;
    if (leaders.length === 1) return `${told}${leaders[0]} leads with ${votes}, and the vote is ${worth ? "right" : "wrong"}.`;
    return `${told}${leaders.length} different answers share the lead with ${votes} each. The vote is right with chance ${worth.toFixed(2)}.`;
  }

  function draw() {
    times.input.value = asked;
    tiles.forEach((tile, at) => {
      const come = at < asked;
      tile.textContent = come ? answers[places[at]] : "";
      const worth = come ? vote(at + 1).worth : 0;
      tile.className = come ? `votes-tile votes-${kinds[places[at]]} votes-line-${worth === 1 ? 0 : worth ? 2 : 1}` : "votes-tile";
    });
    const now = vote(asked);
    const [shown, rest] = [now.ranked.slice(0, SHOWN), now.ranked.slice(SHOWN)];
    const most = Math.max(8, now.ranked[0]?.[1] ?? 0);
    const other = rest.reduce((sum, [, count]) => sum + count, 0);
    bars.forEach(({ name, bar, count }, at) => {
      const [answer, votes] = at < SHOWN ? shown[at] ?? ["", 0] : [rest.length ? `${rest.length} others` : "", other];
      name.textContent = answer;
      count.textContent = votes || "";
      bar.className = `votes-${at < SHOWN && answer ? kinds[answers.indexOf(answer)] : 2}`;
      bar.style.width = `${(100 * Math.min(votes, most)) / most}%`;
    });
    times.tell(`asked ${asked} times`);
    said.textContent = sentence(now);
  }

  const write = kept(el, "asked", (text) => {
    const [n, number] = text.split(",").map(Number);
    if (!(n >= 0 && n <= answers.length)) return;
    [asked, order] = [Math.floor(n), Math.floor(number) || 0];
    places = shuffled(answers.length, order);
    draw();
  });
  const ask = (n, other = order) => {
    [asked, order] = [Math.min(n, answers.length), other];
    places = shuffled(answers.length, order);
    draw();
    write(`${asked},${order}`);
  };
  const actions = [
    button("Ask once more", () => ask(asked + 1)),
    button("Ask 16 times", () => ask(16)),
    button("Start over, in another order", () => ask(1, order + 1)),
  ];
  el.replaceChildren(
    times.box,
    element("div", { className: "spend-actions" }, ...actions),
    said, grid, legend, board,
  );
  draw();
}
