import { createElement, render } from "preact";
import { fetchJson } from "../api/client";
import { define } from "../base/definitions";
import { startLocation } from "../state/location";
import { App } from "./App";
import { fetchViews } from "./lazy";
import { addStyles } from "./styles";

/** A server that does not answer must not keep the page from saying so, ms. */
const PATIENCE = 2000;

/** The view that is looked at goes first, ms. */
const UNHURRIED = 2000;

/** The page, once it is known where its answers come from. */
export async function show(): Promise<void> {
  document.documentElement.lang = "en";
  document.title = "PyTorch Profiler";
  addStyles();
  startLocation();
  const root = document.createElement("div");
  root.id = "root";
  document.body.replaceChildren(root);
  await Promise.race([learnWords(), new Promise((done) => setTimeout(done, PATIENCE))]);
  render(createElement(App, {}), root);
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
