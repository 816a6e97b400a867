// Close the race (games.race). Answers to a real question run side by side, as fast as their real lengths allow, and each
// votes when it finishes. Close the race when the rest is not worth its tokens and the waiting; then the rule plays.

const SECONDS = 4; // that an average answer runs
const SCALE = 1.5; // average answers that a lane shows at first; it shows more as the race goes on
const LONGEST_FRAME = 0.1; // seconds: a tab in the background stands still
const QUIET = 500; // milliseconds after a race ended by itself, in which a press was meant to close it
const LETTERS = "ABCDEFGHIJKLMNOP";

function render({ model, el }) {
  const game = model.get("data");
  const runners = game.questions[0].lengths.length;
  const players = { you: "you", price: "the rule", all: `all ${runners}`, first: "first finish" };
  const totals = {};
  let [round, clock, state] = [0, 0, "ready"]; // ready, running, closed
  let [frame, ended] = [0, -Infinity];

  const where = element("strong");
  const lanes = Array.from({ length: runners }, () => {
    const [bar, vote] = [element("span", { className: "race-bar" }), element("span", { className: "race-vote" })];
    return { bar, vote, lane: element("div", { className: "race-lane" }, bar, vote) };
  });
  const marks = ["you", "price"].map((who) => {
    const label = element("span", {}, players[who]);
    return element("div", { className: `race-mark race-${who}`, hidden: true }, label);
  });
  // The lines below say it in words.
  const track = element("div", { className: "race-track", ariaHidden: true }, ...lanes.map(({ lane }) => lane), ...marks);
  const votes = status("p", "race-votes");
  const said = status("p", "race-said");
  const board = element("table", { className: "race-board" });

  const question = () => game.questions[round];
  const finishes = () => [...question().lengths].sort((one, other) => one - other);
  const opening = () => finishes()[0] / 2; // the answers run already: an empty track would say nothing
  const again = () => round + 1 === game.questions.length;
  const finished = () => question().lengths.filter((length) => length <= clock).length;
  const letter = (number) => (number < 0 ? "none" : LETTERS[number]);
  const signed = (value, digits = 0) => `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(digits)}`;

  // What a race is worth that is closed at this time, after so many finishes.
  function outcome(time, count) {
    const tokens = question().lengths.reduce((sum, length) => sum + Math.min(length, time), 0);
    const right = question().worth[count - 1];
    const points = game.points * right - game.token_price * tokens - game.waiting_price * time;
    return { right, tokens, waiting: time, points };
  }

  function outcomes() {
    const at = (count) => outcome(finishes()[count - 1], count);
    return { you: outcome(clock, finished()), price: at(question().close), all: at(runners), first: at(1) };
  }

  function tally() {
    const counts = new Map();
    question().lengths.forEach((length, lane) => {
      const answer = question().answers[lane];
      if (length <= clock && answer >= 0) counts.set(answer, (counts.get(answer) ?? 0) + 1);
    });
    const ranked = [...counts].sort(([, one], [, other]) => other - one);
    const count = finished();
    const running = `${count} of ${runners} finished`;
    return ranked.length ? `${running}. Votes: ${ranked.map(([answer, votes]) => `${letter(answer)}\u00a0${votes}`).join(", ")}` : `${running}.`;
  }

  function draw() {
    const closed = state === "closed";
    where.textContent = `Question ${round + 1} of ${game.questions.length}`;
    // The scale follows the clock, so that it does not tell how long the longest answer is.
    const shown = Math.max(SCALE, closed ? finishes()[runners - 1] : 1.2 * clock);
    const share = (time) => `${(100 * time) / shown}%`;
    lanes.forEach(({ bar, vote, lane }, number) => {
      const length = question().lengths[number];
      const done = length <= clock;
      const answer = question().answers[number];
      bar.style.width = share(Math.min(length, clock));
      vote.style.left = share(length);
      vote.textContent = done || closed ? letter(answer) : "";
      lane.classList.toggle("race-done", done);
      lane.classList.toggle("race-cancelled", closed && !done);
      lane.classList.toggle("race-right", closed && answer >= 0 && answer === question().right);
      lane.style.setProperty("--whole", closed ? share(length) : "0%");
    });
    const times = { you: clock, price: finishes()[question().close - 1] };
    marks.forEach((mark, at) => {
      mark.hidden = !closed;
      mark.style.left = share(times[["you", "price"][at]]);
    });
    const told = tally();
    if (votes.textContent !== told) votes.textContent = told; // a reader of the screen hears what is new
    main.textContent = { ready: "Start the race", running: "Close the race", closed: again() ? "Play again" : "Next question" }[state];
    main.setAttribute("aria-disabled", state === "running" && !finished());
    skip.disabled = state !== "running";
  }

  function showBoard() {
    board.hidden = !totals.you;
    if (board.hidden) return;
    const cell = (text, tag = "td") => element(tag, {}, text);
    const head = element("tr", {}, ...["player", "right", "tokens", "waiting", "points"].map((name) => cell(name, "th")));
    const rows = Object.entries(players).map(([who, name]) => {
      const total = totals[who];
      const figures = ["right", "tokens", "waiting"].map((part) => cell((total[part] / total.played).toFixed(2)));
      return element("tr", { className: `race-row-${who}` }, cell(name, "th"), ...figures, cell(signed(total.points)));
    });
    board.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
  }

  function finish() {
    state = "closed";
    cancelAnimationFrame(frame);
    const scored = outcomes();
    for (const [who, { right, tokens, waiting, points }] of Object.entries(scored)) {
      const total = (totals[who] ??= { right: 0, tokens: 0, waiting: 0, points: 0, played: 0 });
      Object.assign(total, { right: total.right + right, tokens: total.tokens + tokens, waiting: total.waiting + waiting });
      Object.assign(total, { points: total.points + points, played: total.played + 1 });
    }
    const word = ({ right }) => ({ 0: "wrong", 1: "right" })[right] ?? "tied";
    const told = (one) => `${word(one)}, ${one.tokens.toFixed(1)} answers' tokens, waiting ${one.waiting.toFixed(2)}, ${signed(one.points)} points`;
    const truth = question().right < 0 ? "None of the eight is right." : `${letter(question().right)} is right.`;
    said.textContent = `${truth} You closed at finish ${finished()}: ${told(scored.you)}. The rule closed at finish ${question().close}: ${told(scored.price)}.`;
    draw();
    showBoard();
    if (document.activeElement === skip || document.activeElement === document.body) main.focus();
  }

  function jump() {
    clock = finishes().find((time) => time > clock);
    if (finished() === runners) finish();
    else draw();
  }

  function run(before) {
    frame = requestAnimationFrame((now) => {
      clock += Math.min((now - before) / 1000, LONGEST_FRAME) / SECONDS;
      clock = Math.min(clock, finishes()[runners - 1]);
      if (finished() === runners) {
        ended = performance.now();
        finish();
        return;
      }
      draw();
      run(now);
    });
  }

  function begin() {
    state = "running";
    if (still()) return jump();
    draw();
    run(performance.now());
  }

  function follow() {
    round = again() ? 0 : round + 1;
    if (!round) Object.keys(totals).forEach((who) => delete totals[who]);
    [clock, state] = [opening(), "ready"];
    said.textContent = "";
    draw();
    showBoard();
  }

  // One button starts, closes and goes on, so that a thumb or a key stays where it is.
  const main = button("Start the race", () => {
    if (performance.now() - ended < QUIET) return;
    if (state === "ready") begin();
    else if (state === "closed") follow();
    else if (finished()) finish();
  });
  const skip = button("Skip to the next finish", jump);
  const prices = `A right answer earns ${game.points} points. The tokens of an average answer cost ${game.token_price}, and waiting as long as it takes costs ${game.waiting_price}.`;
  el.replaceChildren(
    where,
    element("p", { className: "race-prices" }, prices),
    track,
    votes,
    element("div", { className: "spend-actions" }, main, skip),
    said,
    board,
  );
  clock = opening();
  draw();
  showBoard();
}
