import { createElement, render } from "preact";
import { fetchJson } from "../api/client";
import { define } from "../base/definitions";
import tokens from "../base/tokens.css?inline";
import { startLocation } from "../state/location";
import timeline from "../timeline/timeline.css?inline";
import trackList from "../timeline/track_list.css?inline";
import apiCalls from "../views/api_calls/api_calls.css?inline";
import ask from "../views/ask/ask.css?inline";
import { declareTables } from "../views/columns";
import path from "../views/critical_path/critical_path.css?inline";
import whatIf from "../views/critical_path/what_if.css?inline";
import diagnosis from "../views/diagnosis/diagnosis.css?inline";
import diff from "../views/diff/diff.css?inline";
import efficiency from "../views/efficiency/efficiency.css?inline";
import findings from "../views/findings/findings.css?inline";
import iterations from "../views/iterations/iterations.css?inline";
import memory from "../views/memory/memory.css?inline";
import module from "../views/module/module.css?inline";
import overview from "../views/overview/overview.css?inline";
import ranks from "../views/ranks/ranks.css?inline";
import sql from "../views/sql/sql.css?inline";
import steps from "../views/steps/steps.css?inline";
import tables from "../views/tables.css?inline";
import details from "../views/trace/details.css?inline";
import dialogs from "../views/trace/dialogs.css?inline";
import drawer from "../views/trace/drawer.css?inline";
import trace from "../views/trace/trace.css?inline";
import views from "../views/views.css?inline";
import charts from "../widgets/charts/charts.css?inline";
import glyph from "../widgets/charts/glyph.css?inline";
import heat from "../widgets/charts/heat.css?inline";
import roofline from "../widgets/charts/roofline.css?inline";
import controls from "../widgets/controls.css?inline";
import flame from "../widgets/flame/flame.css?inline";
import grid from "../widgets/grid/grid.css?inline";
import widgets from "../widgets/widgets.css?inline";
import { App } from "./App";
import { fetchLater } from "./lazy_component";
import page from "./page.css?inline";

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

const FIRST_VIEWS = [views, diagnosis, findings, tables, path, overview];
const WIDGETS = [tokens, widgets, controls, charts, glyph, heat, flame, grid, page, roofline];
const LATER_VIEWS = [
  apiCalls,
  ask,
  whatIf,
  steps,
  efficiency,
  iterations,
  memory,
  module,
  ranks,
  diff,
  sql,
];
const TRACE = [timeline, trackList, trace, details, drawer, dialogs];

/**
 * All style sheets of the page, in the order in which later ones win. Beside each other they compress best; text of modules, because nobody loads a CSS
 * file for TensorBoard's entry page.
 */
function addStyles(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync([...FIRST_VIEWS, ...WIDGETS, ...LATER_VIEWS, ...TRACE].join(""));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
