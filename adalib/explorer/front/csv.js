// A reader's own CSV of accuracies.

/** Accuracies: a header of costs (an id column may come first), then one row a question. */
function parseCsv(name, text) {
  const rows = csvRows(text);
  const header = rows[0].cells;
  const hasId = header.length > 1 && !isNumber(header[0]);
  const costs = header.slice(hasId ? 1 : 0).map((cell, j) => {
    if (!isNumber(cell) || Number(cell) < 0)
      throw new BadFile(`${name}, line 1: column ${j + 1 + hasId} is headed "${clip(cell)}"; ` +
        "head every accuracy column with its cost, a number >= 0.");
    return Number(cell);
  });
  costs.forEach((c, j) => {
    if (j && c < costs[j - 1]) throw new BadFile(`${name}, line 1: cost ${c} comes after ${costs[j - 1]}; sort the columns by cost.`);
  });
  if (rows.length < 2) throw new BadFile(`${name}: there is a header but no row of accuracies below it.`);
  const ids = [];
  const acc = [];
  rows.slice(1).forEach(({ cells, line }, i) => {
    if (cells.length !== header.length)
      throw new BadFile(`${name}, line ${line}: ${plural(cells.length, "cell")} where the header has ${header.length}.`);
    ids.push(hasId ? cells[0] : String(i));
    cells.slice(hasId ? 1 : 0).forEach((cell, j) => {
      const value = isNumber(cell) ? Number(cell) : NaN;
      if (!(value >= 0 && value <= 1))
        throw new BadFile(`${name}, line ${line}, column "${header[j + hasId]}": "${clip(cell)}" is not an accuracy between 0 and 1.`);
      acc.push(Math.round(quantise(value) * SCALE));
    });
  });
  return { budgets: header.slice(hasId ? 1 : 0).map((b) => b.trim()), cost: costs, acc, ids, unit: "cost" };
}

function csvRows(text) {
  const rows = [];
  let cells = [];
  let cell = "";
  let quoted = false;
  let line = 1;
  let start = 1;
  const endRow = () => {
    cells.push(cell);
    if (cells.length > 1 || cells[0].trim()) rows.push({ cells, line: start });
    cells = [];
    cell = "";
    start = line;
  };
  for (let i = 0; i < text.length; i++) {
    const ch = text[i];
    if (ch === "\n") line++;
    if (quoted) {
      if (ch !== '"') cell += ch;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (ch === '"' && !cell) quoted = true;
    else if (ch === ",") {
      cells.push(cell);
      cell = "";
    } else if (ch === "\n") endRow();
    else if (ch !== "\r") cell += ch;
  }
  if (cell || cells.length) endRow();
  return rows;
}
