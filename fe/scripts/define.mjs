/** Before every test file of the page: the definitions that it would have from the server. */

import definitions from "../../torch_tb_profiler/views/definitions.json";
import { define } from "../src/base/definitions";

define(definitions);
