/** Before every test file of the page: the words that it would have from the server. */

import definitions from "../../torch_tb_profiler/views/definitions.json";
import tables from "../../torch_tb_profiler/views/tables.json";
import { define } from "../src/base/definitions";
import { declareTables } from "../src/views/columns";

define(definitions);
declareTables(tables);
