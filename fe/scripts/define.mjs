/** Before every test file: the words that the page has from the server, and nothing of what other files chose; after every test: nothing of what was drawn. */

import { cleanup, configure } from "@testing-library/preact";
import { afterEach } from "vitest";
import definitions from "../../torch_tb_profiler/views/definitions.json";
import tables from "../src/testing/tables.json";
import { define } from "../src/base/definitions";
import { EMPTY_PAGE, pageStore } from "../src/state/location";
import { runsStore } from "../src/state/runs";
import { declareTables } from "../src/views/columns";

define(definitions);
declareTables(tables);
pageStore.set(EMPTY_PAGE);
runsStore.set({ payload: null, error: null });
globalThis.localStorage.clear();

// How fast the machine is decides nothing here, either.
configure({ asyncUtilTimeout: 20_000 });
afterEach(cleanup);
