/** The module that TensorBoard imports; its own stand-alone page does the same. */

import { setBase } from "./api/client";
import { show } from "./app/show";

export function render(): Promise<void> {
  // This module is …/static/index.js, and the routes are beside static/.
  const moduleUrl = import.meta.url;
  setBase(new URL("../", moduleUrl));
  return show();
}
