/** Everything a view draws with. Widgets take props and know neither the state of the page nor the server. */

export { Button, CopyButton, copyText } from "./buttons";
export { Checkbox, Menu, type Option, SearchBox, Segmented, Select, TextInput } from "./controls";
export { linearAxis, XTicks } from "./charts/axes";
export { type Bar, Bars, ShareBar } from "./charts/Bars";
export { Donut } from "./charts/Donut";
export { Figure, type FigureTable } from "./charts/Figure";
export { LEVELS } from "./charts/heat";
export { fillOf, Hatches, Swatch } from "./charts/hatch";
export { Glyph } from "./charts/Glyph";
export { type GlyphSize, isPale, stackedParts } from "./charts/glyph";
export { HeatMap } from "./charts/HeatMap";
export { OTHER, type Part } from "./charts/parts";
export type { Roof, RoofPoint } from "./charts/Roofline";
export { PointTip, Roofline } from "./charts/Roofline";
export { useWidth } from "./charts/size";
export type { Series, StackedBar } from "./charts/stack";
export { SeriesLegend, StackedBars } from "./charts/StackedBars";
export { type StairLine, Staircase } from "./charts/Staircase";
export { FLAME_KINDS, type FlameTint } from "./flame/draw";
export { Flame } from "./flame/Flame";
export { type FlameLayout, foundShare, layOutFlame } from "./flame/layout";
export {
  calleesOf,
  callersOf,
  keysOf,
  mergeFrames,
  namesOf,
  ownOf,
  type Regrouped,
  sumsOf,
} from "./flame/regroup";
export { Beneath } from "./grid/Beneath";
export { Grid } from "./grid/Grid";
export { GridPanel } from "./grid/GridPanel";
export type { CellKind, CellValue, Column, GridProps, Search, Sort } from "./grid/types";
export { Dialog } from "./dialog";
export { Icon, type IconName } from "./icons";
export { Badge, Card, CodeBlock, EmptyState, ErrorState, Panel, Skeleton } from "./panel";
export { PlainTable } from "./PlainTable";
export { Splitter, useStoredSize } from "./splitter";
export { stepsLabel, StepSelector } from "./steps";
export { Floating, Term, Tooltip } from "./tooltip";
export { unbroken } from "./unbroken";
