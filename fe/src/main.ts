/** The module that TensorBoard imports; its own stand-alone page does the same. */

import { createElement, render as renderInto } from "preact";
import { fetchJson, setBase } from "./api/client";
import { App } from "./app/App";
import { fetchViews } from "./app/lazy";
import { addStyles } from "./app/styles";
import { define } from "./base/definitions";
import { startLocation } from "./state/location";

/** A server that does not answer must not keep the page from saying so, ms. */
const PATIENCE = 2000;

/** The view that is looked at goes first, ms. */
const UNHURRIED = 2000;

/** Draws the page into the document's body. */
export async function render(): Promise<void> {
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
  await Promise.race([learnWords(), new Promise((done) => setTimeout(done, PATIENCE))]);
  renderInto(createElement(App, {}), root);
  setTimeout(() => void fetchViews(), UNHURRIED);
}

/** What the labels mean. The page is drawn without it, too. */
async function learnWords(): Promise<void> {
  try {
    define((await fetchJson("definitions", {})).definitions);
  } catch {
    // The routes of the views say what is wrong.
  }
}
