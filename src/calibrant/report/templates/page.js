"use strict";
// Choosers: what is marked with data-panel shows if all its own keys are the chosen ones.
const chosen = {};
function showPanels() {
  for (const panel of document.querySelectorAll("[data-panel]")) {
    panel.hidden = Object.keys(chosen).some(
      (key) => panel.dataset[key] !== undefined && panel.dataset[key] !== chosen[key]);
  }
}
for (const input of document.querySelectorAll("input[type=radio][data-choose]")) {
  if (input.checked) chosen[input.dataset.choose] = input.value;
  input.addEventListener("change", () => {
    chosen[input.dataset.choose] = input.value;
    showPanels();
    decide();
  });
}

// Hints: by pointer, or with the arrow keys in a picture that has the focus.
const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "status");
tip.hidden = true;
document.body.append(tip);
let told = null;
function tell(mark) {
  if (told) told.classList.remove("told");
  told = mark;
  tip.hidden = !mark;
  if (!mark) return;
  mark.classList.add("told");
  tip.textContent = mark.dataset.tip;
  const box = (mark.querySelector(".mark") || mark).getBoundingClientRect();
  const left = Math.min(box.left + box.width / 2, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = box.top - tip.offsetHeight - 10;
  tip.style.left = `${Math.max(8, left) + scrollX}px`;
  tip.style.top = `${(above > 0 ? above : box.bottom + 10) + scrollY}px`;
}
document.addEventListener("pointerover", (event) => tell(event.target.closest("[data-tip]")));
for (const picture of document.querySelectorAll("svg[tabindex]")) {
  const marks = [...picture.querySelectorAll(".point")];
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") tell(null);
    if (!step || !marks.length) return;
    event.preventDefault();
    const at = marks.indexOf(told);
    tell(marks[(at < 0 && step < 0 ? marks.length - 1 : (at + step + marks.length) % marks.length)]);
  });
  picture.addEventListener("blur", () => tell(null));
}

// Decisions: the one of least expected cost, by each row's probabilities.
const data = JSON.parse(document.getElementById("rows")?.textContent || "null");
const costs = document.getElementById("costs");
function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return Float64Array.from(new Uint16Array(bytes.buffer), (value) => value / 65535);
}
function costTable(n) {
  const table = Array.from({ length: n }, () => new Array(n).fill(0));
  for (const field of costs.querySelectorAll("input")) {
    const truth = Number(field.dataset.truth);
    const value = field.validity.valid ? field.valueAsNumber || 0 : 0;
    if (field.dataset.decision) table[truth][Number(field.dataset.decision)] = value;
    else for (let k = 0; k < n; k++) if (k !== truth) table[truth][k] = value;
  }
  return table;
}
function cheapest(proba, row, table) {
  const n = table.length;
  let best = 0;
  let least = Infinity;
  for (let k = 0; k < n; k++) {
    let cost = 0;
    for (let truth = 0; truth < n; truth++) cost += proba[row * n + truth] * table[truth][k];
    if (cost < least - 1e-12) { least = cost; best = k; }
  }
  return best;
}
function mostProbable(proba, row, n) {
  let best = 0;
  for (let k = 1; k < n; k++) if (proba[row * n + k] > proba[row * n + best]) best = k;
  return best;
}
function named(place) {
  const name = document.createElement("bdi");
  name.textContent = data.classes[place];
  return name;
}
function decide() {
  if (!data || !costs) return;
  const n = data.classes.length;
  const table = costTable(n);
  const model = data.models[Number(chosen.model || 0)] || data.models[0];
  const [before, after] = [unpack(model.before), unpack(model.after)];
  const paid = { plain: 0, before: 0, after: 0 };
  const changed = [];
  data.truth.forEach((truth, row) => {
    const plain = mostProbable(after, row, n);
    const choice = cheapest(after, row, table);
    paid.plain += table[truth][plain];
    paid.before += table[truth][cheapest(before, row, table)];
    paid.after += table[truth][choice];
    if (plain !== choice) changed.push({ row, plain, choice, truth });
  });
  const most = Math.max(paid.plain, paid.before, paid.after, 1e-12);
  for (const [key, sum] of Object.entries(paid)) {
    document.getElementById(`paid-${key}`).textContent = (sum / data.truth.length).toFixed(3);
    document.getElementById(`bar-${key}`).style.width = `${(100 * sum) / most}%`;
  }
  document.getElementById("n-changed").textContent =
    `${changed.length} of ${data.truth.length} decisions change.`;
  const list = document.getElementById("changed");
  list.replaceChildren(...changed.slice(0, 10).map(({ row, plain, choice, truth }) => {
    const item = document.createElement("li");
    item.append(`${data.place} ${data.rows[row]}: `, named(plain), " becomes ", named(choice), " (true: ", named(truth), ")");
    return item;
  }));
  if (changed.length > 10) list.append(Object.assign(document.createElement("li"), { textContent: `and ${changed.length - 10} more` }));
}
if (costs) {
  costs.addEventListener("input", decide);
  costs.addEventListener("reset", () => setTimeout(decide));
  costs.addEventListener("submit", (event) => event.preventDefault());
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((own) => { own.open = true; }));
showPanels();
decide();
