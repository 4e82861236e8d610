/** Fails when the built page is larger than its budget (design section 8), and says its size. */

import { readdirSync, readFileSync } from "node:fs";
import { exit } from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const LIMIT = 120 * 1024;
const folder = fileURLToPath(new URL("../../torch_tb_profiler/static", import.meta.url));
let total = 0;
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (entry.isFile()) total += gzipSync(readFileSync(`${entry.parentPath}/${entry.name}`), { level: 9 }).length;
}
console.log(`bundle: ${(total / 1024).toFixed(1)} KiB gzipped of ${LIMIT / 1024}`);
exit(total > LIMIT ? 1 : 0);
