// The search page: a page whose title has words of the query comes first, and other names of a thing find it too.
(function () {
  "use strict";

  const SAME = { license: "licence", kkt: "complementary slackness", karush: "complementary slackness", llm: "language model", "self-consistency": "vote", xgboost: "gbm" };
  const SMALL = /^(how|what|when|why|who|which|to|the|of|a|an|and|is|are|do|does|i|in|it)$/;
  const TITLE = 20; // more than any other place gives

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
    Scorer.score = ([, title, , , score]) => score + TITLE * asked.filter((word) => title.toLowerCase().includes(word)).length;
  });
})();
