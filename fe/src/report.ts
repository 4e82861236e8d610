/** The page as one file that needs no server: see `api/kept.ts`. */

import { setBase, setFetch } from "./api/client";
import { keptFetch, readReport } from "./api/kept";
import { show } from "./app/show";
import { fromEntries, pageStore, readHash } from "./state/location";

/** The routes are nowhere; a page in a notebook's frame has no address of its own that could stand for them. */
const BASE = new URL("http://report.invalid/");

async function open(): Promise<void> {
  const report = await readReport((document.getElementById("report")?.textContent ?? "").trim());
  setBase(BASE);
  setFetch(keptFetch(report, BASE));
  pageStore.set(fromEntries(readHash(report.page ?? "", "")));
  await show();
}

void open();
