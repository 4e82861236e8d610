/** The page as one file that needs no server: see `api/kept.ts`. */

import { setBase, setFetch } from "./api/client";
import { keptFetch, readReport } from "./api/kept";
import { show } from "./app/show";

async function open(): Promise<void> {
  const base = new URL("./", document.baseURI);
  const report = await readReport((document.getElementById("report")?.textContent ?? "").trim());
  setBase(base);
  setFetch(keptFetch(report, base));
  await show();
}

void open();
