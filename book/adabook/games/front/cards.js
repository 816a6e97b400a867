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
  const said = status("p", "cards-said");

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
    const cell = element("button", { type: "button", title, ariaLabel: title });
    cell.dataset.verdict = card.dataset.verdict;
    cell.addEventListener("click", () => open(card));
    return cell;
  });
  const mosaic = element("div", { className: "adalib-mosaic", role: "group", ariaLabel: "all claims, by verdict" }, ...cells);

  const counted = (verdict) => `${verdict} (${cards.filter((card) => card.dataset.verdict === verdict).length})`;
  const bar = choice("verdict", "cards-verdict", [`all (${cards.length})`, ...verdicts.map(counted)], (at) => show(at ? verdicts[at - 1] : ""));
  bar.inputs[0].checked = true;
  el.prepend(bar.box, mosaic, said);
  show("");
  window.addEventListener("beforeprint", () => {
    show("");
    cards.forEach((card) => (card.open = true));
  });
}
