// A reader's own JSON Lines of sampled answers, checked by the rules of adalib.load.

/** Sampled answers, one question a line: the page counts the votes itself, over all subsets, ties shared. */
function parseJsonLines(name, text) {
  const questions = [];
  const seen = new Map();
  text.split("\n").forEach((raw, i) => {
    if (!raw.trim()) return;
    const bad = (what) => new BadFile(`${name}, line ${i + 1}: ${what}`);
    let record;
    try {
      record = JSON.parse(raw);
    } catch {
      throw bad("is not JSON; write one object a line.");
    }
    for (const field of ["id", "question", "gold", "answers"])
      if (record?.[field] === undefined) throw bad(`has no "${field}"; every line needs id, question, gold, answers.`);
    const { id, gold, answers, correct } = record;
    if (!Array.isArray(answers) || !answers.length) throw bad('"answers" must be a list with one answer a sample.');
    const odd = answers.findIndex((answer) => typeof answer !== "string" && typeof answer !== "number");
    if (odd >= 0) throw bad(`"answers"[${odd}] must be a text in quotes, or a number.`);
    const first = questions[0]?.answers.length ?? answers.length;
    if (answers.length !== first)
      throw bad(`has ${plural(answers.length, "answer")}, an earlier line has ${first}; give every question equally many.`);
    if (correct && (!Array.isArray(correct) || correct.length !== first || correct.some((c) => c !== 0 && c !== 1)))
      throw bad(`"correct" must hold 0 or 1 for each of the ${first} answers.`);
    if (!correct && !String(gold ?? "").trim()) throw bad('"gold" is empty; give the right answer, or "correct" for every sample.');
    if (seen.has(String(id))) throw bad(`id "${clip(String(id))}" is already on line ${seen.get(String(id))}; give it another.`);
    seen.set(String(id), i + 1);
    questions.push(record);
  });
  const budgets = BUDGETS.filter((b) => b <= questions[0].answers.length);
  const acc = [];
  const votes = [];
  for (const q of questions) {
    const { classes, empty } = answerClasses(q);
    for (const b of budgets) acc.push(Math.round(quantise(subsetAccuracy(classes, empty, b)) * SCALE));
    votes.push(summariseVotes(classes, empty));
  }
  const has = (value) => value !== undefined && value !== null;
  return {
    budgets: budgets.map(String), cost: budgets, acc, votes, unit: "samples",
    ids: questions.map((q) => String(q.id)),
    questions: questions.map((q) => String(q.question)),
    golds: questions.map((q) => String(q.gold ?? "")),
    levels: questions.some((q) => has(q.level)) ? questions.map((q) => (has(q.level) ? String(q.level) : "")) : undefined,
    about: "Two answers count as the same when they are the same text, or the same number, after trimming spaces.",
  };
}
