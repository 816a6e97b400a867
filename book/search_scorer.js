// What the search finds, and in which order (html_search_scorer). The index is Sphinx's, by section (book/press/search_sections.py):
// every section has an address, the words of its heading and of its text, and the line with which it begins.

// Words that say nothing of what is looked for, beside Sphinx's own list.
const FILLERS = "about am an can could did do does get give go had has have how i just like make many me mean much my one our out should so some tell than use used using very want we what when where which who why would you your".split(" ");
// What a reader calls it, and what the book's headings call it.
const CALLED = { api: "server", confidence: "real", significance: "real", data: "file", dollars: "bill", euros: "bill", latency: "race", money: "bill", random: "surprise", save: "bill", saves: "bill", savings: "bill", verifier: "check", verifiers: "check" };
const MOST = 30; // results
const OF_A_PAGE = 3; // of them
// What a word weighs in the title of a page, in a heading, in the title of the page around a section, and in the text.
const [IN_TITLE, IN_HEADING, IN_PAGE, IN_TEXT] = [6, 4, 2, 1];

const stem = (word) => new Stemmer().stemWord(word.toLowerCase());

/** How many letters to change, add, leave out or swap with the next between two words. */
function distance(one, other) {
  const rows = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const [before, row] = [rows[i - 1], [i]];
    for (let j = 1; j <= other.length; j++) {
      row[j] = Math.min(before[j - 1] + (one[i - 1] !== other[j - 1]), before[j] + 1, row[j - 1] + 1);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows.at(-1).at(-1);
}

const list = (found) => [found ?? []].flat(); // the index has a number for one section, else a list

/** Where a word stands in headings and in texts; for one that nowhere stands, what begins with it or is spelled nearest. */
function places(word) {
  const { terms, titleterms } = Search._index;
  const read = (words) => [titleterms, terms].map((kind) => new Set(words.flatMap((each) => (Object.hasOwn(kind, each) ? list(kind[each]) : []))));
  const known = Object.keys({ ...terms, ...titleterms });
  if (known.includes(word)) return read([word]);
  const longer = known.filter((each) => word.length > 2 && each.startsWith(word));
  if (longer.length || word.length < 4) return read(longer);
  const common = (each) => list(terms[each]).length;
  const near = known.map((each) => [distance(word, each), each]).sort(([p, a], [q, b]) => p - q || common(b) - common(a))[0];
  return near[0] <= 2 ? read([near[1]]) : [new Set(), new Set()];
}

// Chapters teach, so they come before what lists and explains; of two alike, the earlier one introduces the word.
function worth(page, anchor) {
  const [, number] = /^notebooks\/(\d*)/.exec(page) ?? [];
  if (/^#(exercises|quiz|takeaways|change-this)/.test(anchor)) return 0.7;
  if (number) return 1 - Number(number) / 1000;
  if (number === "") return page === "notebooks/own_file" ? 0.9 : 0.65; // most come with a file
  if (anchor === "#works-cited") return 0.2;
  return { "book/glossary": 0.8, "book/operate": 0.8, "book/api": 0.8, "book/data-cards": 0.2 }[page] ?? 0.6;
}

/** The sections that hold the words, best first: [page, heading, anchor, how it begins]. */
function found(query) {
  const { docnames, titles, indexentries, leads } = Search._index;
  const words = splitQuery(query.toLowerCase());
  const telling = words.filter((word) => !stopwords.includes(word) && !FILLERS.includes(word));
  const asked = [...new Set(telling.length ? telling : words)].map((word) => {
    const [heads, texts] = places(stem(word));
    const [too] = CALLED[word] ? places(stem(CALLED[word])) : [[]];
    return [new Set([...heads, ...too]), texts];
  });
  const page = docnames.map((name) => name.split("#")[0]);
  const top = new Map(docnames.map((name, at) => [name, at]));
  // A word that few sections have says more.
  const weights = asked.map(([heads, texts]) => Math.log(1 + docnames.length / (1 + heads.size + texts.size)));
  const all = weights.reduce((sum, one) => sum + one, 0);

  const results = docnames.map((name, at) => {
    const around = top.get(page[at]);
    let points = 0;
    let held = 0;
    asked.forEach(([heads, texts], which) => {
      const weight = heads.has(at) ? (at === around ? IN_TITLE : IN_HEADING) : texts.has(at) ? IN_TEXT + (heads.has(around) ? IN_PAGE : 0) : 0;
      points += weight * weights[which];
      held += weight ? weights[which] : 0;
    });
    const anchor = name.slice(page[at].length);
    return { points: points * (held / all) ** 2 * worth(page[at], anchor), page: page[at], anchor, title: titles[at], within: anchor && titles[around], lead: leads[at] };
  });
  // A word of the glossary, whole.
  for (const [at, id] of indexentries[words.join(" ")] ?? []) {
    results.push({ points: IN_HEADING * all * worth(page[at]), page: page[at], anchor: `#${id}`, title: words.join(" "), within: titles[at], lead: "" });
  }
  // A name of the package.
  const named = new Set(words);
  for (const word of words) {
    for (const [name, title, anchor, what, points] of Search.performObjectSearch(word, named)) {
      if (points >= Scorer.objNameMatch) results.push({ points: IN_HEADING * all * worth(name), page: name, anchor, title, within: what, lead: "" });
    }
  }
  const shown = new Map();
  const count = (name) => shown.set(name, (shown.get(name) ?? 0) + 1).get(name);
  const best = results.filter(({ points }) => points > 0).sort((one, other) => other.points - one.points);
  return best.filter((one) => count(one.page) <= OF_A_PAGE).slice(0, MOST);
}

var Scorer = { objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 0, 1: 0, 2: 0 }, objPrioDefault: 0 };

/** A line of the results: a link to the section, the page that it is in, and how it begins. */
function line({ page, anchor, title, within, lead }) {
  const item = document.createElement("li");
  const add = (tag, properties) => item.appendChild(Object.assign(document.createElement(tag), properties));
  add("a", { href: page + DOCUMENTATION_OPTIONS.LINK_SUFFIX + anchor, textContent: title });
  if (within) add("span", { className: "found-in", textContent: ` in ${within}` });
  if (lead) add("p", { className: "context", textContent: lead });
  return item;
}

// Nothing but the index is fetched, so that all results are there at once, from a disk too.
Search.query = (query) => {
  Search.stopPulse();
  const results = found(query);
  Search.output.replaceChildren(...results.map(line));
  Search.status.textContent = results.length ? "" : "Nothing found. The glossary and the index list the words of the book.";
};
