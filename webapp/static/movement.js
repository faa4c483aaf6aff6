// How is movement shown? Lines from column to column for what moved, and results that slide to their new ranks.
const SVG = "http://www.w3.org/2000/svg";
const still = matchMedia("(prefers-reduced-motion: reduce)");

const results = () => [...document.querySelectorAll(".column .result")];
const nameOf = (result) => `${result.closest(".column").id} ${result.dataset.document}`;

export function placesOf() {
  return new Map(results().map((result) => [nameOf(result), result.getBoundingClientRect().top]));
}

export function slide(before) {
  if (still.matches) return;
  for (const result of results()) {
    const from = before.get(nameOf(result));
    const way = from === undefined ? null : from - result.getBoundingClientRect().top;
    if (way) result.animate([{ transform: `translateY(${way}px)` }, { transform: "none" }], { duration: 250, easing: "ease-out" });
    if (way === null) result.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 250 });
  }
}

export function drawMovement() {
  const columns = document.querySelector(".columns");
  columns?.querySelector(".movement")?.remove();
  const shown = [...(columns?.querySelectorAll(".column") ?? [])];
  if (shown.length < 2) return;
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("class", "movement");
  drawing.setAttribute("aria-hidden", "true");
  const corner = columns.getBoundingClientRect();
  for (let i = 1; i < shown.length; i++) drawing.append(...lines(shown[i - 1], shown[i], corner));
  columns.append(drawing);
}

function lines(left, right, corner) {
  const there = new Map([...right.querySelectorAll(".result")].map((result, rank) => [result.dataset.document, [result, rank]]));
  return [...left.querySelectorAll(".result")].flatMap((result, rank) => {
    const [other, after] = there.get(result.dataset.document) ?? [];
    return other && after !== rank ? [line(result, other, after < rank ? "up" : "down", corner)] : [];
  });
}

function line(result, other, way, corner) {
  const [a, b] = [result, other].map((one) => one.querySelector(".rank").getBoundingClientRect());
  const x = [result.getBoundingClientRect().right - corner.left, other.getBoundingClientRect().left - corner.left];
  const y = [a.top + 11 - corner.top, b.top + 11 - corner.top];
  const middle = (x[0] + x[1]) / 2;
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", way);
  path.dataset.document = result.dataset.document;
  path.setAttribute("d", `M${x[0]} ${y[0]}C${middle} ${y[0]} ${middle} ${y[1]} ${x[1]} ${y[1]}`);
  return path;
}
