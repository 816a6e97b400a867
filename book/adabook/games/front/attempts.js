// Ten puzzles and a hundred tries (games.attempts). A tile is a puzzle: a press makes its next try, a pass lights it, and
// every failure lowers the chance that the next one passes. Then one cap for all, and a plan that has seen the passes, play
// the same tries.

function render({ model, el }) {
  const { puzzles, tries, chance, total, cap, knows } = model.get("data");
  const made = puzzles.map(() => 0);
  const said = status("p", "spend-result");
  const left = status("p", "spend-left");

  const passed = (row) => made[row] > 0 && tries[row][made[row] - 1] === 1;
  const spent = () => made.reduce((sum, count) => sum + count, 0);
  const solved = () => puzzles.filter((_, row) => passed(row)).length;
  const over = () => spent() >= total || puzzles.every((_, row) => passed(row));

  const tiles = puzzles.map((puzzle, row) => {
    const tile = element("button", { type: "button", className: "attempts-tile" });
    tile.addEventListener("click", () => {
      made[row] += 1;
      tell(passed(row) ? `${puzzle} is solved, at try ${made[row]}.` : `${puzzle} failed; the next try passes with chance ${percent(row)}.`);
    });
    return tile;
  });
  const percent = (row) => `${(100 * chance[made[row]]).toFixed(1)}%`;

  function tell(text) {
    tiles.forEach((tile, row) => {
      tile.disabled = passed(row) || over() || made[row] >= tries[row].length;
      tile.classList.toggle("attempts-passed", passed(row));
      const state = passed(row) ? `solved at ${made[row]}` : `${made[row]} failed, next ${percent(row)}`;
      tile.replaceChildren(element("strong", {}, puzzles[row]), element("small", {}, state));
    });
    left.textContent = `${total - spent()} of ${total} tries left, ${solved()} of ${puzzles.length} solved`;
    said.textContent = over()
      ? `${text} You solved ${solved()} with ${spent()} tries. The next try always to the highest chance: ${cap}. A plan that knows the passes: ${knows}.`
      : text;
  }

  const again = button("Begin again", () => {
    made.fill(0);
    tell("");
    tiles[0].focus();
  });
  el.replaceChildren(left, element("div", { className: "attempts-grid" }, ...tiles), element("div", { className: "spend-actions" }, again), said);
  tell("Press a puzzle to make its next try.");
}
