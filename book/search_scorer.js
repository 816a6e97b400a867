// How Sphinx's search orders what it finds (html_search_scorer): titles, words of the glossary and chapters come first.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // a browser reads no other file from disk

var Scorer = {
  // A chapter comes before pages for teachers and the reference, and the list of titles of others comes last.
  score: ([page, , , , score]) => score + (page.startsWith("notebooks/") ? 4 : 0) - (page === "book/references" ? 20 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
