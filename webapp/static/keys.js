// Which keys do what? `/` goes to the box, the arrows walk through the results, Enter opens, Escape closes.
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !writing) return act(event, focusBox);
    if (event.key === "Escape") return close(event.target);
    if (!event.key.startsWith("Arrow")) return;
    const fromBox = event.target.id === "q" && event.key === "ArrowDown";
    if ((writing && !fromBox) || (!event.target.closest(".result") && !fromBox && event.target !== document.body)) return;
    const next = neighbour(document.activeElement.closest(".result"), event.key);
    if (next) act(event, () => next.focus());
  });
}

function act(event, what) {
  event.preventDefault();
  what();
}

function focusBox() {
  const box = document.getElementById("q");
  box?.focus();
  box?.select();
}

function close(target) {
  const open = target.closest("details[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
}

function neighbour(result, key) {
  const columns = [...document.querySelectorAll(".column")].filter((column) => column.offsetParent);
  if (!columns.length) return null;
  if (!result) return key === "ArrowDown" ? link(columns.at(-1), 0) : null;
  const column = columns.findIndex((one) => one.contains(result));
  const row = [...columns[column].querySelectorAll(".result")].indexOf(result);
  const step = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] }[key];
  const there = columns[column + step[0]];
  return there ? link(there, row + step[1]) : null;
}

function link(column, row) {
  return column.querySelectorAll(".result h3 a")[row];
}
