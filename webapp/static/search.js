// How do the columns come alive? The same document lights up everywhere, "Why?" opens in place, the slider re-ranks at once.
const PARTS = [".summary", ".viewline", ".compare", ".paging"];

export function startSearch() {
  document.addEventListener("pointerover", (event) => light(event.target));
  document.addEventListener("focusin", (event) => light(event.target));
  document.addEventListener("toggle", (event) => openWhy(event.target), true);
  for (const form of document.querySelectorAll("form[data-search]")) follow(form);
}

function light(target) {
  const result = target.closest?.(".result");
  const lit = document.querySelectorAll(".same-document");
  if (result && result.classList.contains("same-document")) return;
  lit.forEach((one) => one.classList.remove("same-document"));
  if (!result) return;
  document
    .querySelectorAll(`.result[data-document="${result.dataset.document}"]`)
    .forEach((one) => one.classList.add("same-document"));
}

async function openWhy(details) {
  const link = details.querySelector?.(".why-body > a");
  if (!details.open || !link || details.dataset.asked) return;
  details.dataset.asked = "yes";
  const body = details.querySelector(".why-body");
  body.setAttribute("aria-busy", "true");
  link.textContent = "Adding up the parts of its score …";
  try {
    body.replaceChildren(fragment(await read(`${link.href}&part=1`)));
  } catch {
    link.textContent = "That did not work: open it as a page";
    delete details.dataset.asked;
  }
  body.removeAttribute("aria-busy");
}

async function read(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.text();
}

function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function follow(form) {
  const slider = form.querySelector("input[type=range]");
  slider?.addEventListener("input", () => {
    tellWeight(form);
    rankAgain(form);
  });
  form.querySelector("select")?.addEventListener("change", () => {
    const query = form.querySelector("[name=q]");
    if (!query || query.value.trim()) form.requestSubmit();
  });
  form.addEventListener("submit", () => form.setAttribute("aria-busy", "true"));
}

const tellWeight = (form) => (form.querySelector("output").textContent = `${Math.round(form.elements.weight.value * 100)} %`);

let latest = 0;

async function rankAgain(form) {
  const columns = document.querySelector(".columns");
  if (!columns) return;
  const mine = ++latest;
  await new Promise((done) => setTimeout(done, 60));
  if (mine !== latest) return;
  const address = new URL(location.href);
  address.searchParams.set("weight", form.elements.weight.value);
  columns.setAttribute("aria-busy", "true");
  let page;
  try {
    page = new DOMParser().parseFromString(await read(address), "text/html");
  } catch {
    if (mine === latest) keepShown(form, columns);
    return;
  }
  if (mine !== latest) return;
  replaceParts(page);
  history.replaceState(null, "", address);
  say(`Ranked again: the profile counts ${form.querySelector("output").textContent}.`);
}

// The controls go back to what the rankings in view were made with.
function keepShown(form, columns) {
  columns.removeAttribute("aria-busy");
  form.elements.weight.value = new URL(location.href).searchParams.get("weight") ?? form.elements.weight.defaultValue;
  tellWeight(form);
  say("The server did not answer, so the rankings are still those from before.", true);
}

function replaceParts(page) {
  const tab = document.querySelector(".tab:checked")?.id;
  const open = [...document.querySelectorAll(".why[open]")].map(placeOf);
  for (const part of PARTS) {
    const next = page.querySelector(part);
    if (next) document.querySelector(part)?.replaceWith(next);
  }
  if (tab) document.getElementById(tab).checked = true;
  for (const why of document.querySelectorAll(".why")) if (open.includes(placeOf(why))) why.open = true;
}

const placeOf = (why) => `${why.closest(".column").id} ${why.closest(".result").dataset.document}`;

function say(text, failed = false) {
  const status = document.querySelector("[data-status]");
  status.textContent = text;
  status.classList.toggle("failed", failed);
}
