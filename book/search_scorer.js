// How Sphinx's search orders what it finds (html_search_scorer), and what it does with a word that no page has.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // a browser reads no other file from disk

const stems = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word && !stopwords.includes(word)).map((word) => new Stemmer().stemWord(word));
let asked = []; // the stems of the words in use

// A chapter with the words in its title comes first, then chapters with all of them in their headings, other pages with
// two of them in the title, the glossary, and chapters in their order: first use decides.
// Pages for teachers and the reference follow, and the list of titles of others comes last.
function score([page, title, anchor, , points]) {
  const chapter = /^notebooks\/(\d*)/.exec(page);
  if (page === "book/references") return points - 20;
  if (!chapter) return points;
  const number = chapter[1];
  const id = Search._index.docnames.indexOf(page);
  const own = stems(title);
  const named = !anchor && asked.length > (number ? 0 : 1) && asked.every((stem) => own.includes(stem));
  const headed = number && asked.every((stem) => [Search._index.titleterms[stem]].flat().includes(id));
  const more = named && number ? 200 : headed ? 100 : named ? 90 : 12;
  return points + more - Number(number || 50) / 100;
}

var Scorer = {
  score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

/** How many letters to change, add or leave out between two words. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const letter of one) {
    const before = row;
    row = [before[0] + 1];
    for (let at = 0; at < other.length; at++) row.push(Math.min(before[at] + (letter !== other[at]), before[at + 1] + 1, row[at] + 1));
  }
  return row[other.length];
}

/** A word that no page has gives way to the one that is spelled nearest, if one is near. */
function spelled(word) {
  const known = Object.keys({ ...Search._index.terms, ...Search._index.titleterms });
  const [stem] = stems(word);
  if (!stem || stem.length < 4 || known.some((one) => one.includes(stem))) return word;
  const near = known.map((one) => [distance(stem, one), one]).sort(([p], [q]) => p - q)[0];
  return near[0] <= 2 ? near[1] : word;
}

const ask = Search.query;
Search.query = (words) => {
  const known = words.split(/\s+/).map(spelled).join(" ");
  asked = stems(known);
  ask(known);
};

// A page's buttons, and the line on where it runs, are no part of what it says.
const toText = Search.htmlToText;
Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  page.querySelectorAll(".bd-header-article, .prev-next-footer, .adalib-runs").forEach((part) => part.remove());
  return toText(page.documentElement.innerHTML, anchor);
};
