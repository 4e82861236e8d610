import type { PathRowsPayload, Vocabulary } from "../../api/types.gen";
import { PATH_EVENTS } from "../../api/tables.gen";
import type { ViewProps } from "../../state/view";
import type { Column } from "../../widgets";
import { declaredColumns } from "../columns";
import { exactly } from "../grid_params";
import { GROUPS, labelOf, type PathGroup } from "./model";
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
    PATH_EVENTS,
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
