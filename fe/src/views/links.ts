/** Links from rows of tables to other views of the same trace. */

import type { ViewId, ViewProps } from "../state/view";
import type { Column } from "../widgets";
import { columnsOf, knownColumns } from "./columns";
import { exactly } from "./grid_params";

type Href = ViewProps["hrefOf"];

/** To the row of this name in another view; none where there is no name. */
export const linkedTo =
  (hrefOf: Href, view: ViewId, names: readonly (string | null)[]) =>
  (row: number): string | null =>
    names[row] ? hrefOf(view, exactly(names[row])) : null;

/** The column of links to events (−1: none), where there is one. */
export const timelineColumns = (
  page: string,
  width: number,
  text: string,
  events: readonly number[],
  hrefOf: Href,
): Column[] =>
  knownColumns([
    columnsOf(page)(
      "timeline",
      "Timeline",
      "text",
      width,
      events.map((event) => (event < 0 ? null : text)),
      {
        action: true,
        unknown: () => "",
        href: (row) =>
          (events[row] ?? -1) < 0 ? null : hrefOf("trace", { sel: String(events[row]) }),
      },
    ),
  ]);
