// The search page: a page whose title has words of the query comes first, then one whose text has them often, and other
// names of a thing find it too.
(function () {
  "use strict";

  const SAME = { license: "licence", kkt: "complementary slackness", karush: "complementary slackness", llm: "language model", "self-consistency": "vote", xgboost: "gbm" };
  const SMALL = /^(how|what|when|why|who|which|to|the|of|a|an|and|is|are|do|does|i|in|it)$/;
  const TITLE = 20; // more than any other place gives
  const OFTEN = 9; // as often is often enough

  const words = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);
  const renamed = (query) => words(query).map((word) => SAME[word] ?? word).join(" ");

  // Before Sphinx's own script asks, which it does at the same event.
  document.addEventListener("DOMContentLoaded", () => {
    const parse = Search._parseQuery;
    let asked = [];
    Search._parseQuery = (query) => {
      asked = words(renamed(query)).filter((word) => !SMALL.test(word));
      return parse(asked.join(" ") || query);
    };
    const count = (text, word) => text.toLowerCase().split(word).length - 1;
    // Sphinx also finds words of code, which a reader does not see: such a page counts 0 here, and comes last.
    Scorer.score = ([page, title, , , score]) =>
      asked.reduce((sum, word) => sum + TITLE * (count(title, word) > 0) + Math.min(OFTEN, count(window.adalibTexts[page] ?? "", word)), score);
  });
})();
