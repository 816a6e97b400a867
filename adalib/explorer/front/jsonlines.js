// A reader's own JSON Lines of sampled answers, checked by the rules of adalib.load: tests/helpers/question_cases.json holds
// both, and the collector, to the same verdicts.

const REQUIRED = ["id", "question", "gold", "answers"];
const ONE_A_LINE = "write one JSON object per line";

/** Sampled answers, one question per line, or one line per question, model and effort. */
async function parseJsonLines(name, text, slices) {
  try {
    return await parseAnswers(name, text, slices);
  } catch (error) {
    if (error instanceof SeveralModels) return parseMenu(name, text, slices);
    throw error;
  }
}

const freshRules = () => ({ seen: new Map(), models: new Map(), first: null, line: 0 });
const freshColumns = () => ({ ids: [], questions: [], golds: [], levels: [], acc: [], votes: [], halves: [[], []] });

/** The answers of one model: the page counts the votes itself, over all subsets, ties shared. */
async function parseAnswers(name, text, slices) {
  const [known, found] = [freshRules(), freshColumns()];
  const records = [];
  for (const { raw, number } of textLines(text)) {
    if (slices.due) await slices.rest(0);
    if (/^[ \t\r\v\f]*$/.test(raw)) continue;
    records.push(checkedQuestion(parseRecord(raw, `${name}, line ${number}`), `${name}, line ${number}`, number, known));
  }
  if (!records.length) throw new BadFile(`${name}: holds no questions; ${ONE_A_LINE} with ${REQUIRED.join(", ")} (and model, where several answered).`);
  const cut = cutAlike(records);
  const budgets = BUDGETS.filter((b) => b <= records[0].answers.length);
  for (const [row, record] of records.entries()) {
    if (slices.due) await slices.rest(row / records.length);
    addQuestion(found, record, budgets);
  }
  return {
    ...found, budgets: budgets.map(String), cost: budgets, unit: "answers",
    levels: found.levels.some(Boolean) ? found.levels : undefined,
    about: "Two answers count as the same when they are the same text, or the same number, after trimming spaces." + cut,
  };
}

/** Cut every question to as many answers as the shortest has, and return a sentence on it; "" if there is nothing to cut. */
function cutAlike(records) {
  const counts = records.map(({ answers }) => answers.length);
  const [fewest, most] = counts.reduce(([low, high], count) => [Math.min(low, count), Math.max(high, count)], [Infinity, 0]);
  if (fewest === most) return "";
  for (const record of records)
    for (const field of ["answers", "correct", "tokens"]) record[field] &&= record[field].slice(0, fewest);
  return ` Questions have ${fewest} to ${most} answers; the first ${fewest} of each are used.`;
}

function addQuestion(found, record, budgets) {
  const votes = answerClasses(record);
  found.acc.push(...subsetAccuracies(votes.classes, votes.empty, budgets));
  found.votes.push(summariseVotes(votes.classes, votes.empty));
  [0, 1].forEach((half) => found.halves[half].push(halfOf(votes, half)));
  found.ids.push(record.id);
  found.questions.push(record.question);
  found.golds.push(record.gold);
  found.levels.push(record.level);
}

function* textLines(text) {
  for (let at = 0, number = 1; at < text.length; number++) {
    const end = text.indexOf("\n", at);
    const stop = end < 0 ? text.length : end;
    yield { raw: text.slice(at, stop), number };
    at = stop + 1;
  }
}

/** One line as an object: what JSON allows, and no number that another language would read as another one. */
function parseRecord(raw, where) {
  let record;
  try {
    record = JSON.parse(/\d{16}|e\+?\d{3}/i.test(raw) ? careful(raw, where) : raw);
  } catch (error) {
    if (error instanceof BadFile) throw error;
    if (/[[:,\s]-?(NaN|Infinity)\s*[,\]}]/.test(raw))
      throw new BadFile(`${where}: holds NaN or Infinity, which is no number; write null, or leave the field out.`);
    if (/^\s*\[/.test(raw)) throw new BadFile(`${where}: is part of a JSON array; ${ONE_A_LINE}, without the brackets and the commas between.`);
    throw new BadFile(`${where}: is not JSON; ${ONE_A_LINE}.`);
  }
  if (kindOf(record) !== "an object") throw new BadFile(`${where}: is ${kindOf(record)}, not an object; ${ONE_A_LINE}.`);
  if (deeperThan(record, 900)) throw new BadFile(`${where}: is nested too deeply; ${ONE_A_LINE}, with plain lists in it.`);
  return /\\ud/i.test(raw) ? whole(record) : record;
}

/** Put whole numbers that this language would round into quotes, and refuse numbers that are too large for any. */
function careful(raw, where) {
  return raw.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(\.\d+)?(e[+-]?\d+)?/gi, (token, fraction, power) => {
    if (token[0] === '"') return token;
    const value = Number(token);
    const plain = !fraction && !power;
    if (!Number.isFinite(value) || (plain && token.length > 300))
      throw new BadFile(`${where}: holds the number ${token.slice(0, 20)}, which is too large; write a smaller one, or a text in quotes.`);
    return plain && !Number.isSafeInteger(value) ? `"${token}"` : token;
  });
}

/** Half a character, from a text cut in its middle, becomes a "?". */
function whole(value) {
  if (typeof value === "string") return value.replace(/[\ud800-\udfff]/gu, "?");
  if (Array.isArray(value)) return value.map(whole);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, whole(inner)]));
  return value;
}

function deeperThan(value, limit) {
  const nested = (one) => typeof one === "object" && one !== null;
  let layer = [value];
  for (let depth = 0; layer.length; depth++) {
    if (depth > limit) return true;
    layer = layer.flatMap((one) => Object.values(one).filter(nested));
  }
  return false;
}

function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return { boolean: "true or false", number: "a number", string: "a text", object: "an object" }[typeof value];
}

/** The fields that the explorer uses, or the first thing that is wrong with them, in one sentence. */
function checkedQuestion(record, where, number, known) {
  for (const field of REQUIRED)
    if (!Object.hasOwn(record, field)) throw new BadFile(`${where}: has no "${field}"; every line needs ${REQUIRED.join(", ")}.`);
  const [id, question, gold] = ["id", "question", "gold"].map((field) => textOf(record[field], `${where}: "${field}"`));
  const model = `${record.model ?? null} ${record.effort ?? null}`;
  if (known.seen.has(id) && known.models.get(id) !== model) throw new SeveralModels();
  if (known.seen.has(id))
    throw new BadFile(`${where}: id "${clip(visible(id))}" is already on line ${known.seen.get(id)}; ` +
    'give it another, or say on every line which "model" answered.');
  known.seen.set(id, number);
  known.models.set(id, model);
  const answers = listOf(record.answers, `${where}: "answers"`, textOf);
  known.line ||= number;
  known.first ??= record;
  const [correct, tokens] = Object.entries(SAMPLED).map(([field, check]) => sampledField(record, field, check, where, known));
  const level = record.level ?? null;
  const shownLevel = level === null ? "" : textOf(level, `${where}: "level"`);
  if (!correct && !gold.trim()) throw new BadFile(`${where}: "gold" is empty; give the right answer, or "correct" for every sample.`);
  return { id, question, gold, answers, correct, tokens, level: shownLevel };
}

// Fields with one number a sample, and what each number must be. The explorer uses the first, and of several models the second.
const SAMPLED = {
  correct: (value, what) => {
    if (value !== 0 && value !== 1 && typeof value !== "boolean") throw new BadFile(`${what} is ${shown(value)}; give 0 or 1.`);
    return Number(value);
  },
  tokens: (value, what) => {
    if (!(typeof value === "number" && value >= 0 && value <= 1e15)) throw new BadFile(`${what} is ${shown(value)}; give a number, 0 or more.`);
    return value;
  },
  logprob: (value, what) => {
    // A model that is certain may come out a rounding above 0.
    if (!(typeof value === "number" && value <= 1e-6)) throw new BadFile(`${what} is ${shown(value)}; give a mean log-probability, 0 or less.`);
    return value;
  },
  entropy: (value, what) => SAMPLED.tokens(value, what),
};

function sampledField(record, field, check, where, { first, line }) {
  const given = record[field] ?? null;
  if ((given === null) !== ((first[field] ?? null) === null)) {
    const [has, other] = given === null ? ["has no", "has"] : ["has", "has none"];
    throw new BadFile(`${where}: ${has} "${field}", line ${line} ${other}; give it on every line, or on none.`);
  }
  if (given === null) return null;
  const values = listOf(given, `${where}: "${field}"`, check);
  const samples = record.answers.length;
  if (values.length !== samples)
    throw new BadFile(`${where}: "${field}" has ${values.length} entries for ${samples} answers; give one each.`);
  return values;
}

const shown = (value) => (typeof value === "number" ? String(value) : kindOf(value));

function listOf(value, what, check) {
  if (!Array.isArray(value) || !value.length)
    throw new BadFile(`${what} is ${Array.isArray(value) ? "empty" : kindOf(value)}; give a list with one entry per sample.`);
  return value.map((entry, i) => check(entry, `${what}[${i}]`));
}

function textOf(value, what) {
  if (typeof value === "string") return value;
  if (typeof value !== "number") throw new BadFile(`${what} is ${kindOf(value)}; write it as a text in quotes ("" for no answer).`);
  return String(value);
}
