// How is a person found while typing? By interests, from our own server; the links are those of the page.
export function startPicker() {
  for (const picker of document.querySelectorAll(".picker")) enliven(picker);
  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll(".picker[open]")) if (!open.contains(event.target)) open.open = false;
  });
}

function enliven(picker) {
  const find = picker.querySelector(".picker-find");
  const box = find.querySelector("input");
  find.hidden = false;
  picker.addEventListener("toggle", () => picker.open && box.focus());
  let latest = 0;
  box.addEventListener("input", async () => {
    const mine = ++latest;
    await new Promise((done) => setTimeout(done, 120));
    if (mine !== latest) return;
    const list = picker.querySelector(".picker-list");
    list.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`/api/v1/users?limit=24&find=${encodeURIComponent(box.value)}`);
      if (mine === latest) show(picker, (await answer.json()).users);
    } catch {
      if (mine === latest) list.replaceChildren(element("li", "The server did not answer: type on to try again."));
    }
    if (mine === latest) list.removeAttribute("aria-busy");
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
    if (event.key === "Enter" || event.key === "ArrowDown") picker.querySelector(".picker-list a")?.focus();
  });
}

function show(picker, users) {
  const rows = users.map((user) => {
    const address = new URL(picker.dataset.path, location.href);
    address.searchParams.set("user", user.key);
    const link = element("a", "", element("strong", user.name), " ", element("span", user.interests.join(", ")));
    link.lastChild.className = "interests";
    link.href = address;
    return element("li", "", link);
  });
  const nobody = element("li", "Nobody here has an interest that begins so.");
  picker.querySelector(".picker-list").replaceChildren(...(rows.length ? rows : [nobody]));
  picker.querySelector("[data-found]").textContent = rows.length === 1 ? "1 person" : `${rows.length || "no"} people`;
}

function element(name, text, ...children) {
  const made = document.createElement(name);
  made.append(text, ...children);
  return made;
}
