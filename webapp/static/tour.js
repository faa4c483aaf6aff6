// What does somebody see on a first visit? A short tour in a few steps, told once, skipped by Escape. It never takes the
// focus from the search box by itself: whoever comes to search types on.
const TOURED = "shoal.toured";
const STEPS = [
  [".searchline", "Search as always", "Type a query. The engine’s answer to the words alone is the plain ranking."],
  [".picker", "Be somebody", "Pick a person from the log. Their past searches are a profile, and a profile re-ranks the results."],
  [".field-weight", "How much it counts", "Move the slider between the words and the profile, and see what moves up and down."],
  [".masthead nav", "Look behind it", "See what the server knows of that person, and try to find them as an attacker would."],
];

export function startTour() {
  const again = document.querySelector("[data-tour]");
  if (!document.querySelector(".searchline")) return;
  if (again) {
    again.hidden = false;
    again.addEventListener("click", () => run(0, true));
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && document.querySelector(".tour") && run(STEPS.length));
  document.querySelector(".searchbox").addEventListener("submit", () => localStorage.setItem(TOURED, "yes"));
  if (!localStorage.getItem(TOURED) && location.pathname === "/") run(0);
}

function run(step, focus = false) {
  document.querySelector(".tour")?.remove();
  document.querySelectorAll(".tour-target").forEach((one) => one.classList.remove("tour-target"));
  if (step >= STEPS.length) return end();
  const [where, title, text] = STEPS[step];
  const target = document.querySelector(where);
  target.classList.add("tour-target");
  const card = document.createElement("div");
  card.className = "tour";
  card.setAttribute("role", "region");
  card.setAttribute("aria-labelledby", "tour-title");
  card.setAttribute("aria-live", "polite");
  const head = Object.assign(document.createElement("h2"), { id: "tour-title", textContent: title });
  const body = Object.assign(document.createElement("p"), { textContent: text });
  const at = Object.assign(document.createElement("span"), { className: "tour-at", textContent: `${step + 1} of ${STEPS.length}` });
  const last = step === STEPS.length - 1;
  const buttons = document.createElement("div");
  buttons.className = "tour-buttons";
  buttons.append(at, button("Skip", "", () => run(STEPS.length), last), button(last ? "Done" : "Next", "primary", () => run(step + 1, true)));
  card.append(head, body, buttons);
  document.querySelector("main").prepend(card);
  if (focus) card.querySelector(".primary").focus();
}

function button(text, kind, act, hidden = false) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, className: kind, hidden });
  made.addEventListener("click", act);
  return made;
}

function end() {
  localStorage.setItem(TOURED, "yes");
  document.getElementById("q")?.focus();
}
