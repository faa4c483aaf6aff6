// How do the columns come alive? The same document lights up everywhere, "Why?" opens in place, slider and dial re-rank at once.
import { groupFor } from "./group.js";
import { drawMovement, placesOf, slide } from "./movement.js";

const PARTS = [".summary", ".viewline", ".compare", ".paging"];

export function startSearch() {
  document.addEventListener("pointerover", (event) => light(event.target));
  document.addEventListener("focusin", (event) => light(event.target));
  document.addEventListener("toggle", (event) => openWhy(event.target), true);
  for (const form of document.querySelectorAll("form[data-search]")) follow(form);
  drawMovement();
  addEventListener("resize", drawMovement);
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
  document.querySelectorAll(".movement path").forEach((one) => one.classList.toggle("lit", one.dataset.document === result.dataset.document));
}

async function openWhy(details) {
  drawMovement();
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
  drawMovement();
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
  form.querySelector("input[type=range]")?.addEventListener("input", () => {
    tellWeight(form);
    rankAgain(form);
  });
  for (const stop of form.querySelectorAll(".dial input"))
    stop.addEventListener("change", () => {
      form.elements.release.value = "";
      rankAgain(form, 0);
    });
  form.querySelector("select")?.addEventListener("change", (event) => {
    for (const stop of form.querySelectorAll(".dial input")) stop.checked = !event.target.value && !stop.value;
    if (document.querySelector(".compare")) rankAgain(form);
    else if (!form.querySelector("[name=q]")) form.requestSubmit();
  });
  form.addEventListener("submit", () => form.setAttribute("aria-busy", "true"));
}

// The address of the search in view, with what the controls say now. A browser's own group is of one release only.
async function addressOf(form) {
  const address = new URL(location.href);
  for (const name of ["weight", "risk", "release"]) {
    const value = form.elements[name].value;
    value ? address.searchParams.set(name, value) : address.searchParams.delete(name);
  }
  if (address.searchParams.get("release") !== new URL(location.href).searchParams.get("release")) address.searchParams.delete("word");
  if (address.searchParams.has("group")) {
    await groupFor(address);
    for (const name of ["group", "release"]) form.elements[name].value = address.searchParams.get(name) ?? "";
  }
  return address;
}

const tellWeight = (form) => (form.querySelector("output").textContent = `${Math.round(form.elements.weight.value * 100)} %`);

let latest = 0;

async function rankAgain(form, wait = 60) {
  const columns = document.querySelector(".columns");
  if (!columns) return;
  const mine = ++latest;
  await new Promise((done) => setTimeout(done, wait));
  if (mine !== latest) return;
  columns.setAttribute("aria-busy", "true");
  let page, address;
  try {
    address = await addressOf(form);
    page = new DOMParser().parseFromString(await read(address), "text/html");
  } catch {
    if (mine === latest) keepShown(form, columns);
    return;
  }
  if (mine !== latest) return;
  const before = placesOf();
  replaceParts(page);
  history.replaceState(null, "", address);
  form.dataset.release = page.querySelector("form[data-release]").dataset.release;
  slide(before);
  drawMovement();
  say(`Ranked again: the profile counts ${form.querySelector("output").textContent}. ${document.querySelector(".keeps, .dial-says")?.textContent ?? ""}`);
}

// The controls go back to what the rankings in view were made with.
function keepShown(form, columns) {
  columns.removeAttribute("aria-busy");
  const shown = new URL(location.href).searchParams;
  form.elements.weight.value = shown.get("weight") ?? form.elements.weight.defaultValue;
  form.elements.release.value = shown.get("release") ?? "";
  for (const stop of form.querySelectorAll(".dial input")) stop.checked = !shown.get("release") && stop.value === (shown.get("risk") ?? "");
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
  document.dispatchEvent(new Event("shoal:ranked")); // what a browser adds by itself is added again
  const same = tab && document.getElementById(tab);  // gone, where nothing is as safe as the dial asks for
  if (same) same.checked = true;
  for (const why of document.querySelectorAll(".why")) if (open.includes(placeOf(why))) why.open = true;
}

const placeOf = (why) => `${why.closest(".column").id} ${why.closest(".result").dataset.document}`;

function say(text, failed = false) {
  const status = document.querySelector("[data-status]");
  status.textContent = text;
  status.classList.toggle("failed", failed);
}
