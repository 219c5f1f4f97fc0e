"use strict";
// Files: chosen or dropped, sent as they are; the answer says where to go.
for (const drop of document.querySelectorAll("[data-upload]")) {
  const input = drop.querySelector("input[type=file]");
  const said = drop.querySelector(".said");
  const say = (text, wrong = false) => {
    said.textContent = text;
    said.classList.toggle("wrong", wrong);
  };
  const send = (file) => {
    if (!file) return;
    const most = Number(drop.dataset.mostMegabytes);
    if (file.size > most * 2 ** 20) {
      say(`A file must be at most ${most} MB, but ${file.name} is ${Math.ceil(file.size / 2 ** 20)} MB. Remove columns or rows that are not needed.`, true);
      return;
    }
    const request = new XMLHttpRequest();
    request.open("PUT", drop.dataset.upload);
    request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable && event.loaded < event.total) say(`Reading ${file.name}: ${Math.floor((100 * event.loaded) / event.total)}%`);
    });
    request.addEventListener("load", () => {
      if (request.response?.location) location.assign(request.response.location);
      else say(request.response?.error || "The file could not be read. Choose it again.", true);
    });
    request.addEventListener("error", () => say("calibrant does not answer. If it was stopped, start it again.", true));
    say(`Reading ${file.name} …`);
    request.send(file);
  };
  input.addEventListener("change", () => send(input.files[0]));
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length > 1) say("Drop one file at a time.", true);
    else send(event.dataTransfer.files[0]);
  });
}
// A file that misses its place would replace the page.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
// Coming back by the browser's button, a file can be chosen again.
addEventListener("pageshow", () => {
  for (const input of document.querySelectorAll("[data-upload] input[type=file]")) input.value = "";
  for (const said of document.querySelectorAll("[data-upload] .said")) said.textContent = "";
});

function describeSeconds(seconds) {
  if (seconds < 10) return "a few seconds";
  if (seconds < 55) return `${5 * Math.round(seconds / 5)} seconds`;
  const [value, unit] = seconds < 3300 ? [Math.round(seconds / 60), "minute"] : [Math.round(seconds / 3600), "hour"];
  return `${Math.max(value, 1)} ${unit}${value > 1 ? "s" : ""}`;
}

// Progress: ask until the work has ended, then show the same address again, which has the result.
const job = document.querySelector("[data-job]");
const POLL = 700;
async function watchJob() {
  const said = document.getElementById("job-said");
  try {
    const answer = await fetch(job.dataset.job, { cache: "no-store" });
    const state = await answer.json();
    if (!answer.ok || !["waiting", "running"].includes(state.state)) {
      location.replace(location.href);
      return;
    }
    said.textContent = "";
    const bar = document.getElementById("job-bar");
    document.getElementById("job-step").textContent = state.step;
    if (state.total) { bar.max = state.total; bar.value = state.done; } else bar.removeAttribute("value");
    const left = state.seconds_left === null ? "" : `About ${describeSeconds(state.seconds_left)} left.`;
    const line = document.getElementById("job-left");
    if (line.textContent !== left) line.textContent = left;
    document.title = state.total ? `${Math.floor((100 * state.done) / state.total)}% done` : "Working …";
  } catch {
    said.textContent = "calibrant does not answer. If it was stopped, start it again.";
  }
  setTimeout(watchJob, POLL);
}
if (job) setTimeout(watchJob, POLL);

// The expected time follows the chosen models.
const form = document.querySelector("[data-estimates]");
if (form) {
  const estimates = JSON.parse(form.dataset.estimates);
  form.addEventListener("change", () => {
    const models = [...form.querySelectorAll("input[name=model]:checked")].map((input) => input.value);
    for (const place of form.querySelectorAll("[data-estimate]")) {
      const seconds = models.reduce((sum, name) => sum + estimates[name][Number(place.dataset.estimate)], 0);
      place.textContent = models.length ? describeSeconds(seconds) : "no time: choose a model";
    }
  });
}
