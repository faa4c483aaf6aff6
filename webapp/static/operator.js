// What does the operator's panel do beyond showing itself? Progress, uploads and the plot; all work without it too.
const shown = (seconds) => seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;

function watch(element) {
  const bar = element.querySelector("progress");
  const part = (name) => element.querySelector(`[data-part=${name}]`);
  const badge = (element.closest(".job") ?? document).querySelector(".state");
  async function look() {
    let status;
    try {
      const answer = await fetch(element.dataset.status, { headers: { Accept: "application/json" } });
      if (!answer.ok) return location.reload();
      status = await answer.json();
    } catch {
      return setTimeout(look, 3000); // the server is being restarted; the job goes on
    }
    if (!["queued", "running"].includes(status.state)) return location.reload();
    bar.value = status.share;
    badge.className = `state state-${status.state}`;
    badge.textContent = status.state;
    part("step").textContent = status.state === "queued" ? "Waiting for the work that began before it" : `Step ${status.step} of ${status.steps}`;
    part("stage").textContent = status.stage;
    part("left").textContent = status.remaining_seconds === null ? "" : `about ${shown(status.remaining_seconds)} left in this stage`;
    setTimeout(look, 1000);
  }
  setTimeout(look, 700);
}

function upload(form) {
  const bar = form.querySelector("progress"), wrong = form.querySelector(".wrong"), button = form.querySelector("button");
  const say = (text) => { wrong.textContent = text; wrong.hidden = !text; };
  form.addEventListener("submit", (event) => {
    const file = form.elements.log.files[0];
    if (!file) return;
    event.preventDefault();
    if (file.size > Number(form.dataset.limit)) return say("This file is larger than the limit: pack it as .gz, or split it.");
    say("");
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.upload.addEventListener("progress", (step) => { bar.hidden = false; bar.value = step.loaded / step.total; });
    request.addEventListener("load", () => {
      if (request.status < 400) return location.assign(request.responseURL);
      button.disabled = false;
      say(request.status === 413 ? "This file is larger than the limit." : "The upload was refused: choose a log in the AOL format.");
    });
    request.addEventListener("error", () => { button.disabled = false; say("The connection broke: try again."); });
    button.disabled = true;
    request.send(new FormData(form));
  });
}

function plot(element) {
  const tip = element.querySelector("[data-part=tip]"), chosen = element.parentElement.querySelector("[data-part=chosen]");
  for (const link of element.querySelectorAll("a")) {
    const label = link.getAttribute("aria-label"), address = link.getAttribute("href");
    const show = () => { tip.textContent = label; tip.hidden = false; };
    const hide = () => { tip.hidden = true; };
    link.addEventListener("mouseenter", show);
    link.addEventListener("focus", show);
    link.addEventListener("mouseleave", hide);
    link.addEventListener("blur", hide);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      element.querySelector(".is-chosen")?.classList.remove("is-chosen");
      link.classList.add("is-chosen");
      choose(chosen, label, address);
    });
  }
}

function choose(place, label, address) {
  const text = document.createElement("b"), more = document.createElement("a");
  text.textContent = label;
  more.href = address;
  more.className = "button";
  more.textContent = "Look at it";
  place.replaceChildren(text, more);
  const template = document.querySelector(`[data-activate="${label.split(":")[0]}"]`);
  if (template) place.append(template.content.cloneNode(true));
}

document.querySelectorAll("[data-status]").forEach(watch);
document.querySelectorAll("[data-upload]").forEach(upload);
document.querySelectorAll("[data-plot]").forEach(plot);
