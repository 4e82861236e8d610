/** "What if this took half the time?": links to the panel from rows of the path and from an event on the timeline. */

import type { EventPayload, PathRowsPayload } from "../../api/types.gen";
import type { ViewProps } from "../../state/view";
import type { Column } from "../../widgets";
import { knownColumns } from "../columns";
import { lookOf } from "../trace/looks";
import type { PathGroup } from "./model";
import { halved, halvedPart, SELECTOR_OF } from "./what_if_model";

type HrefOf = ViewProps["hrefOf"];

/** A column of links, empty where nothing could be chosen by its name. */
export function halvedColumns(
  rows: PathRowsPayload["rows"],
  by: PathGroup,
  hrefOf: HrefOf,
): Column[] {
  if (by === "track") return [];
  const changes = rows.kind.map((kind, row) => {
    const name = rows.name[row];
    return by === "place" || by === "event"
      ? halvedPart(kind, name, rows.line[row])
      : name && halved(by, name);
  });
  return knownColumns([
    {
      key: "what_if",
      label: "What if",
      term: "what_if",
      kind: "text",
      width: 96,
      values: changes.map((change) => (change ? "half the time" : null)),
      unknown: () => "",
      href: (row) =>
        changes[row]
          ? hrefOf("critical_path", { what_if: changes[row], by: by === "place" ? "" : by })
          : null,
    },
  ]);
}

/** By what the events of a look are chosen. */
const OF_LOOK: typeof SELECTOR_OF = {
  ...SELECTOR_OF,
  python_frame: "line",
  communication: "name",
};

interface HalvedLinkProps {
  view: ViewProps;
  event: EventPayload;
}

/** A link to the what-if for one event, with all others of its name. */
export function HalvedLink({ view, event: { ref } }: HalvedLinkProps) {
  const selector = OF_LOOK[lookOf(ref.look).term];
  return selector && ref.name ? (
    <a
      class="button button-plain"
      href={view.hrefOf("critical_path", { what_if: halved(selector, ref.name) })}
    >
      What if this took half the time?
    </a>
  ) : null;
}
