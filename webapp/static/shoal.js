// What does a page do beyond showing itself? Each part starts where its element is; without scripts all still works.
import { startSearch } from "./search.js";
import { startKeys } from "./keys.js";
import { startGroup } from "./group.js";
import { startDevice } from "./device.js";
import { startPicker } from "./picker.js";
import { startTour } from "./tour.js";

document.documentElement.classList.add("has-script");
startSearch();
startKeys();
startPicker();
startGroup();
startDevice();
startTour();
