/** The style sheets of the shell and the widgets; views add their own. */

import { adoptStyles } from "../base/styles";
import charts from "../widgets/charts/charts.css?inline";
import heat from "../widgets/charts/heat.css?inline";
import controls from "../widgets/controls.css?inline";
import flame from "../widgets/flame/flame.css?inline";
import grid from "../widgets/grid/grid.css?inline";
import widgets from "../widgets/widgets.css?inline";
import page from "./page.css?inline";
import tokens from "./tokens.css?inline";

export function addStyles(): void {
  for (const css of [tokens, widgets, controls, charts, heat, flame, grid, page]) adoptStyles(css);
}
