/** The page as one file that needs no server: see `api/embedded_report.ts`. */

import { setBase, setFetch } from "./api/client";
import { embeddedFetch, readReport } from "./api/embedded_report";
import { show } from "./app/show";
import { fromEntries, pageStore, readHash } from "./state/location";

/** The routes are nowhere; a page in a notebook's frame has no address of its own that could stand for them. */
const BASE = new URL("http://report.invalid/");

async function open(): Promise<void> {
  const report = await readReport((document.getElementById("report")?.textContent ?? "").trim());
  setBase(BASE);
  setFetch(embeddedFetch(report, BASE));
  pageStore.set(fromEntries(readHash(report.page ?? "", "")));
  await show();
}

void open();
