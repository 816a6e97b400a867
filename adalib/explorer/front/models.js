// A file with the answers of several models, or of several efforts of a model, to the same questions, read as adalib.load
// reads it: an arm is a model at an effort and a number of answers, and costs what its answers cost.

/** A question came again with another model or effort: the file is a menu. */
class SeveralModels extends Error {}

async function parseMenu(name, text, slices) {
  const models = new Map();
  for (const { raw, number } of textLines(text)) {
    if (slices.due) await slices.rest(0);
    if (/^[ \t\r\v\f]*$/.test(raw)) continue;
    const where = `${name}, line ${number}`;
    const record = parseRecord(raw, where);
    const one = modelOf(models, record, where);
    one.records.push(checkedQuestion(record, where, number, one.known));
  }
  for (const one of models.values()) {
    one.cut = cutAlike(one.records);
    one.budgets = BUDGETS.filter((b) => b <= one.records[0].answers.length);
    for (const [row, checked] of one.records.entries()) {
      if (slices.due) await slices.rest(row / one.records.length);
      one.written.push(checked.tokens ? checked.tokens.reduce((sum, count) => sum + count, 0) / checked.answers.length : 0);
      one.counted = checked.tokens !== null;
      addQuestion(one.found, checked, one.budgets);
    }
  }
  return menuOf(name, [...models]);
}

/** The model of a line: its price, and what was read of it so far. */
function modelOf(models, record, where) {
  if ((record.model ?? null) === null) throw new BadFile(`${where}: has no "model", and other lines have; give it on every line.`);
  const effort = (record.effort ?? null) === null ? "" : ` ${textOf(record.effort, `${where}: "effort"`)}`;
  const model = textOf(record.model, `${where}: "model"`) + effort;
  const price = record.price ?? 1;
  if (!(typeof price === "number" && price > 0)) throw new BadFile(`${where}: "price" is ${shown(price)}; give a number above 0.`);
  if (!models.has(model)) models.set(model, { price, records: [], written: [], effort, known: freshRules(), found: freshColumns() });
  const one = models.get(model);
  if (one.price !== price) throw new BadFile(`${where}: "price" is ${price}, and was ${one.price} for "${clip(visible(model))}"; give a model one.`);
  return one;
}

/** The setting of several models: a column for each model and number of answers, in the order of their average cost. */
function menuOf(name, models) {
  const [[firstModel, { found: first }]] = models;
  const places = models.map(([model, { found }]) => placesOf(name, first, found, firstModel, model));
  const counted = models.every(([, one]) => one.counted);
  const ownCosts = models.some(([, one]) => one.effort); // a question pays for its own tokens
  if (ownCosts && !counted) {
    const [model] = models.find(([, one]) => !one.counted);
    throw new BadFile(`${name}: ${model} has no tokens; add "tokens" to its lines, or price answers.`);
  }
  const arms = armsOf(models, counted);
  const cost = ownCosts ? first.ids.flatMap((_, row) => ownCostsOf(models, arms, places, row)) : arms.map((arm) => arm.cost);
  const prices = models.map(([model, one]) => `${model} ${one.price}`).join(", ");
  return {
    ids: first.ids, questions: first.questions, golds: first.golds,
    levels: first.levels.some(Boolean) ? first.levels : undefined,
    acc: first.ids.flatMap((_, row) => arms.map((arm) => accuracyOf(models, arm, places, row))),
    budgets: arms.map(({ m, b }) => `${models[m][0]} x${b}`), unit: "cost",
    cost,
    models: arms.map(({ m }) => models[m][0]),
    colours: armColours(arms.map(({ m }) => m)),
    about: `An answer costs its ${counted ? "tokens times the price of a token" : "price"}: ${prices}.${models.map(([, one]) => one.cut).find(Boolean) ?? ""}`,
  };
}

/** The arms, cheapest first: `m` is the model's number, `b` its answers, `column` where its own table has them. */
function armsOf(models, counted) {
  const offered = models.map(([, one]) => one.budgets).reduce((least, own) => (own.length < least.length ? own : least));
  const arms = models.flatMap(([, { price, written, found }], m) => {
    const tokens = counted ? written.reduce((sum, each) => sum + each, 0) / found.ids.length : 1;
    return offered.map((b, column) => ({ m, b, column, cost: b * (price * tokens) }));
  });
  return arms.sort((one, other) => one.cost - other.cost);
}

function accuracyOf(models, { m, column }, places, row) {
  const { found, budgets } = models[m][1];
  return found.acc[places[m][row] * budgets.length + column];
}

/** What one question pays for every arm by its own tokens; costs never fall along a row. */
function ownCostsOf(models, arms, places, row) {
  let most = 0;
  return arms.map(({ m, b }) => {
    const { price, written } = models[m][1];
    most = Math.max(most, b * (price * written[places[m][row]]));
    return most;
  });
}

/** Where the first model's questions are among another's; each must have them all, and the same. */
function placesOf(name, first, found, firstModel, model) {
  const at = new Map(found.ids.map((id, place) => [id, place]));
  const only = first.ids.find((id) => !at.has(id)) ?? found.ids.find((id) => !first.ids.includes(id));
  if (only !== undefined)
    throw new BadFile(`${name}: question "${clip(visible(only))}" is not answered by both "${firstModel}" and "${model}"; give every model all questions.`);
  const places = first.ids.map((id) => at.get(id));
  for (const field of ["questions", "golds"])
    if (places.some((place, row) => found[field][place] !== first[field][row]))
      throw new BadFile(`${name}: "${model}" has other ${field} than the first model; give the same.`);
  return places;
}

/** A hue per model, darker if more expensive: adalib.colours.arm_colours. */
function armColours(models) {
  const order = [...new Set(models)];
  return models.map((model, place) => {
    const [light, dark] = MODEL_COLOURS[order.indexOf(model) % MODEL_COLOURS.length].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
    const own = models.flatMap((other, at) => (other === model ? [at] : []));
    const share = own.indexOf(place) / Math.max(own.length - 1, 1);
    return "#" + light.map((low, c) => Math.round(low + share * (dark[c] - low)).toString(16).padStart(2, "0")).join("");
  });
}
