// What does a page do beyond showing itself? Each part starts where its element is; without scripts all still works.
import { startCompare } from "./compare.js";
import { startKeys } from "./keys.js";
import { startMine } from "./mine.js";
import { startPicker } from "./picker.js";
import { startTour } from "./tour.js";

document.documentElement.classList.add("has-script");
startCompare();
startKeys();
startPicker();
startMine();
startTour();
