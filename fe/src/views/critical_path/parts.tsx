import type { ComponentChildren } from "preact";
import type { PathRowsPayload, Vocabulary } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { type Column, Panel, Select } from "../../widgets";
import { declaredColumns } from "../columns";
import { exactly } from "../grid_params";
import { GROUPS, labelOf, type PathGroup, type Range } from "./model";
import { halvedColumns } from "./what_if_links";

type HrefOf = ViewProps["hrefOf"];

export function pathColumns(
  { rows }: PathRowsPayload,
  by: PathGroup,
  hrefOf: HrefOf,
  words: Vocabulary,
): Column[] {
  const event = (row: number): number => rows.event[row] ?? -1;
  const group = GROUPS.find(({ value }) => value === by);
  const toEvent = (row: number): string | null =>
    event(row) >= 0 ? hrefOf("trace", { sel: String(event(row)), path: "1" }) : null;
  const toOperator = (name: string | null | undefined): string | null =>
    name ? hrefOf("operator", exactly(name)) : null;
  const columns = declaredColumns(
    "path_events",
    rows,
    {
      name: {
        ...(by === "place" || !group ? {} : { label: group.label, term: group.term }),
        href: by === "operator" ? (row) => toOperator(rows.name[row]) : toEvent,
        unknown: () => (by === "place" || by === "event" ? "nothing recorded" : "none"),
      },
      kind: {
        values: rows.kind.map((kind) => (kind === null ? null : labelOf(kind))),
        ...(by === "place" || by === "event" ? {} : { label: "Mostly" }),
      },
      operator: { href: (row) => toOperator(rows.operator[row]) },
    },
    words,
  );
  return [...columns, ...halvedColumns(rows, by, hrefOf)];
}

interface OnThePathProps {
  term: string;
  range: Range | null;
  by: string;
  groups: readonly { value: string; label: string }[];
  onGroup: (next: string) => void;
  children: ComponentChildren;
}

/** The panel of what is on the path, or on a chosen part of it, with a choice of what a row is one of. */
export function OnThePath({ term, range, by, groups, onGroup, children }: OnThePathProps) {
  return (
    <Panel
      title="On the path"
      term={term}
      note={range ? `only the chosen ${formatTime(range.t1 - range.t0)}` : null}
      actions={<Select label="Group by" value={by} options={groups} onChange={onGroup} />}
      flush
    >
      {children}
    </Panel>
  );
}
