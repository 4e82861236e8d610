import { createElement, render } from "preact";
import { fetchJson } from "../api/client";
import { define } from "../base/definitions";
import { startLocation } from "../state/location";
import { declareTables } from "../views/columns";
import { App } from "./App";
import { fetchLater } from "./lazy_component";
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
  // What is typed are names of kernels and numbers, not words.
  root.spellcheck = false;
  document.body.replaceChildren(root);
  const draw = (learnt: boolean) => render(createElement(App, { key: String(learnt) }), root);
  const words = learnWords().then(() => true);
  const inTime = await Promise.race([words, pause(PATIENCE).then(() => false)]);
  draw(inTime);
  // What was drawn without the words, whose tables have no columns, is drawn anew.
  if (!inTime) void words.then(draw);
  // What fails here is fetched again when it is looked at.
  setTimeout(() => void fetchLater().catch(() => null), UNHURRIED);
}

/** What the labels mean and which columns the tables have, as soon as the server says so. */
async function learnWords(): Promise<void> {
  for (;;) {
    try {
      const { definitions, tables } = await fetchJson("definitions", {});
      define(definitions);
      declareTables(tables);
      return;
    } catch {
      // The routes of the views say what is wrong.
      await pause(PATIENCE);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
