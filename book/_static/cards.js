// The cards (adalib.teach.figures.cards): a row of buttons shows one verdict alone.
(function () {
  "use strict";

  const { element, everywhere } = window.adalibParts;

  everywhere("cards", (root) => {
    const cards = [...root.querySelectorAll(".adalib-card")];
    const verdicts = ["stands", "true after correction", "not supported", "falls", "open"];
    const said = element("p", { className: "cards-said" });
    said.setAttribute("role", "status");

    function show(verdict) {
      const shown = cards.filter((card) => !verdict || card.dataset.verdict === verdict);
      cards.forEach((card) => (card.hidden = !shown.includes(card)));
      said.textContent = `${shown.length} of ${cards.length} claims shown. Open one to see the paper's words and the number that decides.`;
    }

    const choice = (verdict, text) => {
      const input = element("input", { type: "radio", name: "cards-verdict", checked: !verdict });
      input.addEventListener("change", () => show(verdict));
      return element("label", {}, input, `${text} (${cards.filter((card) => !verdict || card.dataset.verdict === verdict).length})`);
    };
    const bar = element(
      "div",
      { className: "adalib-controls adalib-choice" },
      choice("", "all"),
      ...verdicts.map((verdict) => choice(verdict, verdict)),
    );
    bar.setAttribute("role", "radiogroup");
    bar.setAttribute("aria-label", "verdict");
    root.prepend(bar, said);
    show("");
    window.addEventListener("beforeprint", () => {
      show("");
      cards.forEach((card) => (card.open = true));
    });
  });
})();
