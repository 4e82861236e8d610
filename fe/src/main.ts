/** The module that TensorBoard imports; its own stand-alone page does the same. */

import { createElement, render as renderInto } from "preact";
import { setBase } from "./api/client";
import { App } from "./app/App";
import { addStyles } from "./app/styles";
import { startLocation } from "./state/location";

/** Draws the page into the document's body. */
export function render(): void {
  document.documentElement.lang = "en";
  document.title = "PyTorch Profiler";
  // This module is …/static/index.js, and the routes are beside static/.
  const here = import.meta.url;
  setBase(new URL("../", here));
  addStyles();
  startLocation();
  const root = document.createElement("div");
  root.id = "root";
  document.body.replaceChildren(root);
  renderInto(createElement(App, {}), root);
}
