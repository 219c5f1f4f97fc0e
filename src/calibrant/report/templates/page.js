"use strict";
// Choosers: a panel shows if each of its keys (model, view) has the chosen value.
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
    showDecisions();
  });
}

// Tooltips: by pointer, or by arrow keys in a figure that has the focus.
const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "status");
tip.hidden = true;
document.body.append(tip);
let activeMark = null;
function showTip(mark) {
  if (activeMark) activeMark.classList.remove("active");
  activeMark = mark;
  tip.hidden = !mark;
  if (!mark) return;
  mark.classList.add("active");
  tip.textContent = mark.dataset.tip;
  const box = (mark.querySelector(".mark") || mark).getBoundingClientRect();
  const left = Math.min(box.left + box.width / 2, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = box.top - tip.offsetHeight - 10;
  tip.style.left = `${Math.max(8, left) + scrollX}px`;
  tip.style.top = `${(above > 0 ? above : box.bottom + 10) + scrollY}px`;
}
document.addEventListener("pointerover", (event) => showTip(event.target.closest("[data-tip]")));
for (const figure of document.querySelectorAll("svg[tabindex]")) {
  const marks = [...figure.querySelectorAll(".point")];
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") showTip(null);
    if (!step || !marks.length) return;
    event.preventDefault();
    const at = marks.indexOf(activeMark);
    showTip(marks[(at < 0 && step < 0 ? marks.length - 1 : (at + step + marks.length) % marks.length)]);
  });
  figure.addEventListener("blur", () => showTip(null));
}

// Decisions: the class with the lowest expected cost under the probabilities of each row.
const data = JSON.parse(document.getElementById("decision-data")?.textContent || "null");
const costs = document.getElementById("costs");
const MOST_LISTED = 10;
function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return Float64Array.from(new Uint16Array(bytes.buffer), (value) => value / 65535);
}
function readCosts(n) {
  const table = Array.from({ length: n }, () => new Array(n).fill(0));
  for (const field of costs.querySelectorAll("input")) {
    const truth = Number(field.dataset.truth);
    const value = field.validity.valid ? field.valueAsNumber || 0 : 0;
    if (field.dataset.decision) table[truth][Number(field.dataset.decision)] = value;
    else for (let k = 0; k < n; k++) if (k !== truth) table[truth][k] = value;
  }
  return table;
}
function cheapestClass(proba, row, table) {
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
function mostProbableClass(proba, row, n) {
  let best = 0;
  for (let k = 1; k < n; k++) if (proba[row * n + k] > proba[row * n + best]) best = k;
  return best;
}
function isolate(text) {
  const element = document.createElement("bdi");
  element.textContent = text;
  return element;
}
function classElement(index) {
  return isolate(data.classes[index]);
}
function listItem(...content) {
  const item = document.createElement("li");
  item.append(...content);
  return item;
}
function showDecisions() {
  if (!data || !costs) return;
  const n = data.classes.length;
  const table = readCosts(n);
  const model = data.models[Number(chosen.model || 0)] || data.models[0];
  const [uncalibrated, calibrated] = [unpack(model.uncalibrated), unpack(model.calibrated)];
  const total = { "most-probable": 0, uncalibrated: 0, calibrated: 0 };
  const changed = [];
  const counts = Array.from({ length: n }, () => new Array(n).fill(0));
  data.truth.forEach((truth, row) => {
    const mostProbable = mostProbableClass(calibrated, row, n);
    const cheapest = cheapestClass(calibrated, row, table);
    total["most-probable"] += table[truth][mostProbable];
    total.uncalibrated += table[truth][cheapestClass(uncalibrated, row, table)];
    total.calibrated += table[truth][cheapest];
    counts[truth][cheapest] += 1;
    if (mostProbable !== cheapest) changed.push({ row, mostProbable, cheapest, truth });
  });
  const most = Math.max(...Object.values(total), 1e-12);
  for (const [key, sum] of Object.entries(total)) {
    document.getElementById(`cost-${key}`).textContent = (sum / data.truth.length).toFixed(3);
    document.getElementById(`cost-bar-${key}`).style.width = `${(100 * sum) / most}%`;
  }
  document.getElementById("n-changed").textContent =
    `${changed.length} of ${data.truth.length} decisions ${changed.length === 1 ? "differs" : "differ"} from the most probable class.`;
  const items = changed.slice(0, MOST_LISTED).map(({ row, mostProbable, cheapest, truth }) => listItem(
    isolate(data.rows[row]), ": ", classElement(cheapest), " instead of ", classElement(mostProbable),
    " (true class: ", classElement(truth), ")"));
  if (changed.length > MOST_LISTED) items.push(listItem(`and ${changed.length - MOST_LISTED} more`));
  document.getElementById("changed").replaceChildren(...items);
  if (n === 2) showThreshold(table, counts);
}
// Of two classes, the second one costs less if its probability reaches the threshold.
function showThreshold(table, counts) {
  const [missed, raised] = [table[1][0], table[0][1]];
  const threshold = (100 * raised) / (missed + raised);
  document.getElementById("threshold").replaceChildren(...(missed + raised > 0
    ? ["These costs imply a threshold: decide ", classElement(1), ` if its probability is above ${threshold.toFixed(1)}%.`]
    : ["With costs of 0, every decision is as good as any other."]));
  counts.forEach((row, truth) => row.forEach((count, decision) => {
    document.getElementById(`n-${truth}-${decision}`).textContent = count;
  }));
}
// The cost table as CSV: one row per true class, one column per decision. As in the files that
// calibrant writes, an apostrophe keeps spreadsheets from running a name as a formula.
function writeCell(value) {
  const text = /^'*[=+\-@\t\r]/.test(value) && !Number.isFinite(Number(value)) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function saveCosts() {
  if (!costs.reportValidity()) return;
  const rows = [["true class", ...data.classes]];
  readCosts(data.classes.length).forEach((row, truth) => rows.push([data.classes[truth], ...row]));
  const text = rows.map((row) => row.map(writeCell).join(",") + "\n").join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = "costs.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
if (costs) {
  costs.addEventListener("input", showDecisions);
  costs.addEventListener("reset", () => setTimeout(showDecisions));
  document.getElementById("save-costs").addEventListener("click", saveCosts);
  costs.addEventListener("submit", (event) => event.preventDefault());
}
// A button that copies a text, or selects it where the clipboard is not available.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(source);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected: copy it with your keyboard";
    }
  });
}

// A link to a folded section opens it.
function openTarget() {
  document.getElementById(location.hash.slice(1))?.querySelector(":scope > details")?.setAttribute("open", "");
}
addEventListener("hashchange", openTarget);
openTarget();
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((item) => { item.open = true; }));
showPanels();
showDecisions();
