import type { ComponentChildren } from "preact";
import { Panel, type PanelProps } from "../panel";
import { Grid } from "./Grid";
import type { GridProps } from "./types";

interface GridPanelProps extends GridProps, Pick<PanelProps, "term" | "note" | "actions"> {
  /** Where the panel is not called as its table. */
  title?: string;
  /** Whether it has the height that the window leaves. */
  fill?: boolean;
  /** What stands above the table, and below it. */
  children?: ComponentChildren;
  after?: ComponentChildren;
}

/** A table in a panel of its own. */
export function GridPanel(props: GridPanelProps) {
  const { title, term, note, actions, fill, children, after, ...grid } = props;
  return (
    <Panel title={title ?? grid.label} {...{ term, note, actions }} flush={fill ? "fill" : true}>
      {children}
      <Grid {...grid} />
      {after}
    </Panel>
  );
}
