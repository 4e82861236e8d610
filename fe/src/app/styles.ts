/** The style sheets of the first page: beside each other they compress best. Views that come later add their own. */

import { adoptStyles } from "../base/styles";
import path from "../views/critical_path/critical_path.css?inline";
import diagnosis from "../views/diagnosis/diagnosis.css?inline";
import findings from "../views/findings/findings.css?inline";
import overview from "../views/overview/overview.css?inline";
import tables from "../views/tables.css?inline";
import views from "../views/views.css?inline";
import charts from "../widgets/charts/charts.css?inline";
import heat from "../widgets/charts/heat.css?inline";
import controls from "../widgets/controls.css?inline";
import flame from "../widgets/flame/flame.css?inline";
import grid from "../widgets/grid/grid.css?inline";
import widgets from "../widgets/widgets.css?inline";
import page from "./page.css?inline";
import tokens from "./tokens.css?inline";

const OF_VIEWS = [views, diagnosis, findings, tables, path, overview];
const OF_WIDGETS = [tokens, widgets, controls, charts, heat, flame, grid, page];

export function addStyles(): void {
  for (const css of [...OF_VIEWS, ...OF_WIDGETS]) adoptStyles(css);
}
