
// The page of the hall (hall.py): a phone's, or with the key behind the # the teacher's. It draws with what market.js has.
let seen = "";
if (location.hash) sessionStorage.setItem("key", location.hash.slice(1));
history.replaceState(null, "", "/"); // on a projector the key would be read by all

async function ask(what, value) {
  const kept = { me: sessionStorage.getItem("me"), key: sessionStorage.getItem("key"), number: seen && JSON.parse(seen).number };
  const state = await sent(JSON.stringify({ ...kept, what, value }), what === "look" ? 0 : 10);
  if (!state) return null; // a look that was lost comes again in a second
  if (state.refused) return alert(state.refused);
  if (state.me) sessionStorage.setItem("me", state.me); // a page that is loaded again keeps its card
  const isTyped = what === "look" && document.activeElement?.matches("input"); // what is being typed stays
  if (isTyped || JSON.stringify(state) === seen) return null;
  seen = JSON.stringify(state);
  return document.querySelector("main").replaceChildren(...(state.me ? phone(state) : teacher(state)));
}

// What the hall replies. A press that is lost on the way is sent again, up to so many times; its number says of which round it is.
async function sent(body, more) {
  try {
    const reply = await fetch("/", { method: "POST", body });
    return await reply.json();
  } catch {
    if (!more) return null;
    await new Promise((resume) => setTimeout(resume, 500));
    return sent(body, more - 1);
  }
}

const say = (text) => make("p", { class: "market-said", role: "status" }, text);
const PAYS = { nothing: "nothing", "one price": "one price for each further answer", "the harm": "what the others lose because of you" };

function phone({ kind, value, seat, budgets, card: mine, hand, told }) {
  const shown = card(mine, budgets, `Card ${seat}`);
  if (kind === "wait") return [say("Wait for the first price."), shown];
  if (kind === "price") {
    const buttons = budgets.map((budget) => press(`${budget}`, () => ask("show", budget)));
    return [say(`The price is ${priced(value)}. ${hand ? `You show ${hand}.` : "How many do you take?"}`), make("p", {}, ...buttons), shown];
  }
  if (told) return [say(`You get ${told.budget}, worth ${told.points} points to you, and pay ${short(told.paid)}: ${short(told.left)} are left.`), shown];
  const written = (hand ?? mine.points).map((points, k) => number(`${budgets[k]}:`, points, 0, 100));
  const give = press("Hand in", () => ask("show", written.map(([, input]) => Number(input.value))));
  const rule = `The plan with the most points as written will be taken. You pay ${PAYS[value]}. What do you write on your card?`;
  return [say(hand ? "Handed in. You may change it." : rule), make("p", { class: "market-hands" }, ...written.map(([label]) => label)), give, shown];
}

let price = 5;
function teacher({ kind, value, cards, budgets, hands, money, rounds, told, rules, lie }) {
  const [label, input] = number("price, points per answer", price, 0, 100);
  input.step = "any";
  input.addEventListener("input", () => (price = Number(input.value)));
  const parts = [
    say(`Phones: ${cards.length}. Hands: ${hands}. Phones open http://${location.host}/`),
    make("p", {}, label, press("Call the price", () => ask("price", price))),
    make("p", {}, "Write cards, and pay: ", ...rules.map((rule) => press(rule, () => ask("write", rule)))),
  ];
  if (kind === "wait") parts.push(make("p", { class: "hall-code", role: "img", "aria-label": "QR code of the phones' address" }, document.querySelector("template").content.cloneNode(true)));
  if (kind === "price") {
    const total = rounds.find((round) => round.price === value).bill;
    parts.push(say(`At ${priced(value)} they take ${total} of ${money} answers.`));
    if (cards.length) parts.push(staircase(cards, budgets, money, rounds, null));
  }
  if (kind === "write") parts.push(say(`They write cards for ${money} answers, and pay ${value}.`), press("Settle", () => ask("settle")));
  if (told.length) {
    const lied = told.filter((one) => one.lied);
    const sum = (name) => short(told.reduce((all, one) => all + one[name], 0));
    const won = lied.filter((one) => one.gain > 0.005).length;
    const lost = lied.filter((one) => one.gain < -0.005).length;
    const alone = `If all wrote the truth but card ${lie.seat}, and that one wrote 100 at ${lie.budget} and 0 elsewhere, it would gain ${short(lie.gain)} points and the others would lose ${short(-lie.others)}.`;
    parts.push(say(lie.gain > 0.005 ? alone : "If all others write the truth, nobody gains by writing 100 at one budget and 0 elsewhere."));
    parts.push(say(`${lied.length} wrote something else than their card: it paid for ${won} and cost ${lost}. All together have ${sum("points")} points, and paid ${sum("paid")}.`));
  }
  return parts;
}

ask("look");
setInterval(() => ask("look"), 1000);
