/**
 * All style sheets of the page, in the order in which later ones win. Beside each other they compress best; text of modules, because nobody loads a CSS
 * file for TensorBoard's entry page.
 */

import tokens from "../base/tokens.css?inline";
import timeline from "../timeline/timeline.css?inline";
import trackList from "../timeline/track_list.css?inline";
import apiCalls from "../views/api_calls/api_calls.css?inline";
import path from "../views/critical_path/critical_path.css?inline";
import whatIf from "../views/critical_path/what_if.css?inline";
import diagnosis from "../views/diagnosis/diagnosis.css?inline";
import diff from "../views/diff/diff.css?inline";
import efficiency from "../views/efficiency/efficiency.css?inline";
import findings from "../views/findings/findings.css?inline";
import memory from "../views/memory/memory.css?inline";
import module from "../views/module/module.css?inline";
import overview from "../views/overview/overview.css?inline";
import ranks from "../views/ranks/ranks.css?inline";
import sql from "../views/sql/sql.css?inline";
import tables from "../views/tables.css?inline";
import details from "../views/trace/details.css?inline";
import dialogs from "../views/trace/dialogs.css?inline";
import drawer from "../views/trace/drawer.css?inline";
import trace from "../views/trace/trace.css?inline";
import views from "../views/views.css?inline";
import charts from "../widgets/charts/charts.css?inline";
import heat from "../widgets/charts/heat.css?inline";
import roofline from "../widgets/charts/roofline.css?inline";
import controls from "../widgets/controls.css?inline";
import flame from "../widgets/flame/flame.css?inline";
import grid from "../widgets/grid/grid.css?inline";
import widgets from "../widgets/widgets.css?inline";
import page from "./page.css?inline";

const FIRST_VIEWS = [views, diagnosis, findings, tables, path, overview];
const WIDGETS = [tokens, widgets, controls, charts, heat, flame, grid, page, roofline];
const LATER_VIEWS = [apiCalls, whatIf, efficiency, memory, module, ranks, diff, sql];
const TRACE = [timeline, trackList, trace, details, drawer, dialogs];

export function addStyles(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync([...FIRST_VIEWS, ...WIDGETS, ...LATER_VIEWS, ...TRACE].join(""));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
