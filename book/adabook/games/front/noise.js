// Feed it noise (games.feed): two bars, in-sample and held out; a button replaces the text by random numbers.

const signed = (points) => `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(1)}`;

function render({ model, el }) {
  const { rows, names } = model.get("data");
  const most = Math.max(...rows.flat());
  const least = Math.min(0, ...rows.flat());
  const place = (points) => `${(100 * (points - least)) / (most - least)}%`;
  let draw = 0;

  const bars = ["inside", "held out"].map((kind) => {
    const bar = element("span", { className: `noise-bar noise-${kind.replace(" ", "-")}` });
    const whisker = element("span", { className: "noise-whisker" });
    const value = element("strong");
    const zero = element("span", { className: "noise-zero" });
    zero.style.left = place(0);
    const track = element("div", { className: "noise-track" }, zero, bar, ...(kind === "inside" ? [] : [whisker]));
    return { bar, whisker, value, box: element("div", { className: "noise-row" }, element("span", {}, names[kind]), track, value) };
  });
  const said = element("p", { className: "stop-board" });
  said.setAttribute("role", "status");

  function show() {
    const [inside, out, low, high] = rows[draw];
    [inside, out].forEach((points, at) => {
      const [from, to] = [Math.min(0, points), Math.max(0, points)];
      Object.assign(bars[at].bar.style, { left: place(from), width: `calc(${place(to)} - ${place(from)})` });
      bars[at].value.textContent = signed(points);
    });
    Object.assign(bars[1].whisker.style, { left: place(low), width: `calc(${place(high)} - ${place(low)})` });
    const fed = draw ? `Noise, draw ${draw} of ${rows.length - 1}` : "The text of the questions";
    said.textContent = `${fed}: ${signed(inside)} points in-sample, ${signed(out)} held out [${signed(low)},\u00a0${signed(high)}].`;
  }

  const feed = (next) => () => {
    draw = next();
    show();
  };
  el.replaceChildren(
    ...bars.map(({ box }) => box),
    element(
      "div",
      { className: "spend-actions" },
      button("Feed it noise", feed(() => (draw % (rows.length - 1)) + 1)),
      button("Feed it the text", feed(() => 0)),
    ),
    said,
  );
  show();
}
