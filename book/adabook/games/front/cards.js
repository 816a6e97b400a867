// The cards (adabook.figures.cards), grouped by verdict: a shut card shows the number that decides. A
// cell of the mosaic opens its card, and a row of buttons shows one verdict alone.

function render({ el }) {
  const verdicts = ["stands", "true after correction", "not supported", "falls", "open"];
  const place = (card) => verdicts.indexOf(card.dataset.verdict);
  const cards = [...el.querySelectorAll(".adalib-card")].sort((one, other) => place(one) - place(other));
  el.append(...cards);
  for (const card of cards) {
    const number = card.querySelector(".card-number").textContent;
    card.querySelector("summary").append(element("span", { className: "card-short" }, number));
  }
  const said = element("p", { className: "cards-said" });
  said.setAttribute("role", "status");

  function show(verdict) {
    const shown = cards.filter((card) => !verdict || card.dataset.verdict === verdict);
    cards.forEach((card, at) => {
      card.hidden = !shown.includes(card);
      cells[at].disabled = card.hidden;
    });
    said.textContent = `${shown.length} of ${cards.length} claims shown. Open one, or its cell above, to see the paper's words.`;
  }

  function open(card) {
    cards.forEach((each) => each.classList.toggle("card-found", each === card));
    card.open = true;
    card.querySelector("summary").focus({ preventScroll: true });
    card.scrollIntoView({ block: "center", behavior: still() ? "auto" : "smooth" });
  }
  const cells = cards.map((card) => {
    const title = card.querySelector("summary").firstChild.textContent + card.querySelector("summary").childNodes[1].textContent;
    const cell = element("button", { type: "button", title });
    cell.setAttribute("aria-label", title);
    cell.dataset.verdict = card.dataset.verdict;
    cell.addEventListener("click", () => open(card));
    return cell;
  });
  const mosaic = element("div", { className: "adalib-mosaic" }, ...cells);
  mosaic.setAttribute("role", "group");
  mosaic.setAttribute("aria-label", "all claims, by verdict");

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
  el.prepend(bar, mosaic, said);
  show("");
  window.addEventListener("beforeprint", () => {
    show("");
    cards.forEach((card) => (card.open = true));
  });
}
