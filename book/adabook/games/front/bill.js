// The bill (games.bill): a policy and the same for everyone, by the reader's own prices.

const FIELDS = [
  ["read", "$ per million tokens read"],
  ["cached", "$ per million read again (cached)"],
  ["written", "$ per million tokens written"],
  ["prompt", "tokens per prompt"],
  ["answer", "tokens per answer"],
  ["questions", "questions per day"],
];

function render({ model, el }) {
  const data = model.get("data");
  const body = element("tbody");
  const said = status("p", "stop-board");
  const inputs = {};
  const form = element("div", { className: "bill-fields" });
  FIELDS.forEach(([name, label]) => {
    inputs[name] = element("input", { type: "number", min: 0, step: "any", value: data.prices[name] });
    inputs[name].addEventListener("input", draw);
    form.append(element("label", {}, `${label} `, inputs[name]));
  });
  // Two heads: whose numbers they are, and what they count.
  const head = (...cells) => element("tr", {}, ...cells.map(([text, colSpan = 1]) => element(text ? "th" : "td", { colSpan }, text)));
  const whose = head(["the router", 3], ["the same for everyone, as right", 2], [""]);
  const what = head(["answers"], ["right"], ["$ a day"], ["answers"], ["$ a day"], ["saved, $ a day"]);
  const table = element("table", { className: "adalib-table" }, element("thead", {}, whose, what), body);

  function draw() {
    const price = {};
    FIELDS.forEach(([name]) => (price[name] = Math.max(Number(inputs[name].value) || 0, 0)));
    // games.PriceList.dollars
    const day = (answers) =>
      (price.questions * (price.prompt * (price.read + (answers - 1) * price.cached) + answers * price.answer * price.written)) / 1e6;
    const digits = (value) => (Math.abs(value) < 100 ? 2 : 0);
    const money = (value) => value.toLocaleString("en", { minimumFractionDigits: digits(value), maximumFractionDigits: digits(value) });
    body.replaceChildren(
      ...data.rows.map(([answers, accuracy, mix]) => {
        const cells = [answers.toFixed(2), `${(100 * accuracy).toFixed(1)}%`, money(day(answers))];
        cells.push(...(mix === null ? [`more than ${data.most}`, `over ${money(day(data.most))}`, `over ${money(day(data.most) - day(answers))}`]
          : [mix.toFixed(2), money(day(mix)), money(day(mix) - day(answers))]));
        return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
      }),
    );
    const [answers, , mix] = data.rows[data.focus];
    const other = mix === null ? data.most : mix;
    const share = day(other) > 0 ? 100 * (1 - day(answers) / day(other)) : 0;
    said.textContent = `At ${answers.toFixed(2)} answers per question the router costs $${money(day(answers))} per day, ${share.toFixed(0)}% less than the same number for everyone that is as often right.`;
  }

  el.replaceChildren(form, element("div", { className: "adalib-scroll", tabIndex: 0 }, table), said);
  draw();
}
