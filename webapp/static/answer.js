// What does a picture tell who points at a mark, or reaches it by the keyboard? What its table says, beside it.
document.querySelectorAll("[data-picture]").forEach((element) => {
  const tip = element.parentElement.querySelector("[data-part=tip]");
  for (const link of element.querySelectorAll("a")) {
    const show = () => { tip.textContent = link.getAttribute("aria-label"); };
    link.addEventListener("mouseenter", show);
    link.addEventListener("focus", show);
  }
});
