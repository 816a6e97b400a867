// When to stop: the game (games.stop). Answers to a real question come in one by one, each for a
// price; close the vote when the next one is not worth it. Then the rule plays the same question.

function render({ model, el }) {
  const game = model.get("data");
  const always = 4;
  const totals = { you: 0, price: 0, four: 0 };
  let round = 0;
  let seen = 1;
  let open = true;

  const where = element("strong");
  const asked = element("p", { className: "stop-asked" });
  const list = element("ol", { className: "stop-answers" });
  const votes = element("p", { className: "stop-votes" });
  const said = status("p", "stop-said");
  const board = element("p", { className: "stop-board" });

  const question = () => game.questions[round];
  const points = (answers) => game.points * question().worth[answers - 1] - game.price * answers;
  const written = (value) => `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(0)}`;

  function answer(place) {
    const text = question().answers[place];
    const item = element("li", {}, text === "" ? "(unreadable)" : text);
    if (question().sure.length) {
      const sure = question().sure[place];
      const bar = element("span", { className: "stop-sure" });
      bar.style.width = `${Math.round(4 + 56 * sure)}px`;
      item.append(bar, element("small", {}, ` ${Math.round(100 * sure)}% per token`));
    }
    return item;
  }

  // The vote so far: the weight of every answer, the leader first.
  function tally() {
    const q = question();
    const sums = new Map();
    q.answers.slice(0, seen).forEach((text, place) => text !== "" && sums.set(text, (sums.get(text) || 0) + q.weight[place]));
    const all = [...sums.values()].reduce((sum, weight) => sum + weight, 0);
    const shares = [...sums].sort((one, other) => other[1] - one[1]).slice(0, 4);
    return shares.flatMap(([text, weight], place) => {
      const bar = element("span", { className: "stop-sure" });
      bar.style.width = `${Math.round((120 * weight) / all)}px`;
      const name = element(place ? "span" : "strong", {}, text);
      return [name, bar, element("small", {}, ` ${Math.round((100 * weight) / all)}% `), element("br")];
    });
  }

  function mark(item, place) {
    if (open) return item;
    const notes = [[seen, "you stopped here"], [question().stop, "the rule stopped here"]];
    const said = notes.filter(([at]) => at === place + 1).map(([, words]) => words).join("; ");
    if (said) item.append(element("small", { className: "stop-note" }, `↑ ${said}`));
    if (place >= seen) item.style.opacity = 0.6;
    return item;
  }

  function draw() {
    const q = question();
    const shown = open ? seen : Math.max(seen, q.stop);
    where.textContent = `Question ${round + 1} of ${game.questions.length}`;
    asked.textContent = q.text;
    list.replaceChildren(...Array.from({ length: shown }, (_, place) => mark(answer(place), place)));
    votes.replaceChildren("The vote so far: ", element("br"), ...tally());
    more.disabled = !open || seen >= q.answers.length;
    close.disabled = !open;
    next.disabled = open;
    next.textContent = round + 1 < game.questions.length ? "Next question" : "Play again";
    board.textContent = `So far: you ${written(totals.you)}, the rule ${written(totals.price)}, always ${always} answers ${written(totals.four)}.`;
  }

  function finish() {
    open = false;
    const q = question();
    const right = (answers) => ({ 0: "wrong", 1: "right" })[q.worth[answers - 1]] || "tied";
    totals.you += points(seen);
    totals.price += points(q.stop);
    totals.four += points(always);
    said.textContent =
      `The answer is ${q.gold}. You stopped at ${seen}: ${right(seen)}, ${written(points(seen))} points. ` +
      `The rule stopped at ${q.stop}: ${right(q.stop)}, ${written(points(q.stop))} points.`;
    draw();
    if (round + 1 === game.questions.length) board.textContent = board.textContent.replace("So far", "After ten questions");
    next.focus();
  }

  const more = button(`One more answer (−${game.price})`, () => {
    seen += 1;
    draw();
    if (more.disabled) close.focus();
  });
  const close = button("Stop here", finish);
  const next = button("Next question", () => {
    if (round + 1 === game.questions.length) {
      round = -1;
      Object.keys(totals).forEach((name) => (totals[name] = 0));
    }
    round += 1;
    seen = 1;
    open = true;
    said.textContent = "";
    draw();
    more.focus();
  });
  el.replaceChildren(where, asked, list, votes, element("div", { className: "spend-actions" }, more, close, next), said, board);
  draw();
}
