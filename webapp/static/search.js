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
  const answer = await fetch(`${link.href}&part=1`);
  if (!answer.ok) return;
  details.querySelector(".why-body").replaceChildren(fragment(await answer.text()));
}

function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function follow(form) {
  const slider = form.querySelector("input[type=range]");
  slider?.addEventListener("input", () => {
    form.querySelector("output").textContent = `${Math.round(slider.value * 100)} %`;
    rankAgain(form);
  });
  form.querySelector("select")?.addEventListener("change", () => {
    const query = form.querySelector("[name=q]");
    if (!query || query.value.trim()) form.requestSubmit();
  });
}

let latest = 0;

async function rankAgain(form) {
  if (!document.querySelector(".compare")) return;
  const mine = ++latest;
  await new Promise((done) => setTimeout(done, 60));
  if (mine !== latest) return;
  const address = new URL(location.href);
  address.searchParams.set("weight", form.querySelector("input[type=range]").value);
  const answer = await fetch(address);
  if (!answer.ok || mine !== latest) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const tab = document.querySelector(".tab:checked")?.id;
  for (const part of PARTS) {
    const next = page.querySelector(part);
    if (next) document.querySelector(part)?.replaceWith(next);
  }
  if (tab) document.getElementById(tab).checked = true;
  history.replaceState(null, "", address);
}
