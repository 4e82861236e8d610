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

/** To the event of a row on the timeline (−1: none). */
export const eventLink =
  (hrefOf: Href, events: readonly number[]) =>
  (row: number): string | null =>
    (events[row] ?? -1) < 0 ? null : hrefOf("trace", { sel: String(events[row]) });

/** A column of links that all read the same, on the rows that are `linked`. */
export const linkColumn = (
  page: string,
  key: string,
  label: string,
  width: number,
  text: string,
  linked: readonly boolean[],
  href: (row: number) => string | null,
): Column =>
  columnsOf(page)(
    key,
    label,
    "text",
    width,
    linked.map((is) => (is ? text : null)),
    { action: true, unknown: () => "", href: (row) => (linked[row] ? href(row) : null) },
  );

/** The column of links to events (−1: none). */
export const timelineColumn = (
  page: string,
  width: number,
  text: string,
  events: readonly number[],
  hrefOf: Href,
): Column =>
  linkColumn(
    page,
    "timeline",
    "Timeline",
    width,
    text,
    events.map((event) => event >= 0),
    eventLink(hrefOf, events),
  );

/** The column of links to the timeline, where there is one. */
export const timelineColumns = (...args: Parameters<typeof timelineColumn>): Column[] =>
  knownColumns([timelineColumn(...args)]);
