// A reader's own CSV of accuracies, by the rules of adalib.explorer.read_csv.

/** Accuracies: a header of costs (an id column may come first), then one row per question. */
async function parseCsv(name, text, slices) {
  let header;
  const ids = [];
  const acc = [];
  for (const { cells, line, end } of csvRows(text)) {
    if (!header) header = csvHeader(name, cells);
    else {
      readAccuracies(name, header, cells, line, acc);
      ids.push(header.skip ? cells[0] : String(ids.length));
    }
    if (slices.due) await slices.rest(end / text.length);
  }
  if (!ids.length) throw new BadFile(`${name}: there is a header but no row of accuracies below it.`);
  return { budgets: header.names.map((b) => b.trim()), cost: header.costs, acc, ids, unit: "cost" };
}

function csvHeader(name, cells) {
  const skip = cells.length > 1 && !isNumber(cells[0]) ? 1 : 0;
  const names = cells.slice(skip);
  const costs = names.map((cell, j) => {
    if (!isNumber(cell) || Number(cell) < 0)
      throw new BadFile(`${name}, line 1: column ${j + 1 + skip} is headed "${clip(cell)}"; ` +
        "head every accuracy column with its cost, a number >= 0.");
    return Number(cell);
  });
  const down = costs.findIndex((cost, j) => j && cost < costs[j - 1]);
  if (down > 0)
    throw new BadFile(`${name}, line 1: cost ${costs[down]} comes after ${costs[down - 1]}; sort the columns by cost.`);
  return { skip, names, costs };
}

function readAccuracies(name, { skip, names }, cells, line, acc) {
  if (cells.length !== names.length + skip)
    throw new BadFile(`${name}, line ${line}: ${plural(cells.length, "cell")} where the header has ${names.length + skip}.`);
  for (let j = skip; j < cells.length; j++) {
    const value = isNumber(cells[j]) ? Number(cells[j]) : NaN;
    if (!(value >= 0 && value <= 1))
      throw new BadFile(`${name}, line ${line}, column "${clip(names[j - skip])}": "${clip(cells[j])}" is not an accuracy between 0 and 1.`);
    acc.push(value);
  }
}

/** Rows that are not blank, each with the line it starts on and the place where it ends. */
function* csvRows(text) {
  let line = 1;
  for (let at = 0; at < text.length; ) {
    const cells = [];
    const start = line;
    for (let more = true; more; ) {
      const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at);
      cells.push(cell.value);
      line += cell.lines;
      more = text[cell.end] === ",";
      at = cell.end + 1;
    }
    if (text[at - 1] === "\n") line++;
    if (cells.some((cell) => cell.trim())) yield { cells, line: start, end: at };
  }
}

const CELL_END = /[,\n]/g;
function plainCell(text, at) {
  CELL_END.lastIndex = at;
  const end = CELL_END.exec(text)?.index ?? text.length;
  return { value: text.slice(at, end).replace(/\r/g, ""), end, lines: 0 };
}

/** A cell in quotes: doubled quotes are one, line breaks belong to it, and what follows the closing quote is kept. */
function quotedCell(text, at) {
  let value = "";
  let from = at + 1;
  for (;;) {
    const close = text.indexOf('"', from);
    if (close < 0) return { value: value + text.slice(from), end: text.length, lines: text.slice(at).split("\n").length - 1 };
    value += text.slice(from, close);
    from = close + 2;
    if (text[close + 1] === '"') {
      value += '"';
      continue;
    }
    const rest = plainCell(text, close + 1);
    return { value: value + rest.value, end: rest.end, lines: text.slice(at, close).split("\n").length - 1 };
  }
}
