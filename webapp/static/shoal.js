// What does a page do beyond showing itself? Each part starts where its element is; without scripts all still works.
document.documentElement.classList.add("has-script");
