import type { CriticalPathPayload } from "../../api/types.gen";
import { PATH_EVENTS } from "../../api/tables.gen";
import { formatShare, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import type { Column } from "../../widgets";
import { declaredColumns } from "../columns";
import { exactly } from "../grid_params";
import { colorOf, labelOf, stretchesOf, stripLabel } from "./model";

type HrefOf = ViewProps["hrefOf"];

interface PathStripProps {
  payload: CriticalPathPayload;
  hrefOf: HrefOf;
}

/** The path of one step from left to right, a colour per kind; a press opens that time on the timeline. */
export function PathStrip({ payload, hrefOf }: PathStripProps) {
  return (
    <svg class="path-strip" role="group" aria-label={stripLabel(payload)}>
      {stretchesOf(payload).map(({ kind, from, width, window, title }) => (
        <a key={window} href={hrefOf("trace", { t: window })} tabIndex={-1} aria-label={title}>
          <rect
            x={`${100 * from}%`}
            width={`${100 * width}%`}
            height="100%"
            style={{ fill: colorOf(kind) }}
          >
            <title>{title}</title>
          </rect>
        </a>
      ))}
    </svg>
  );
}

/** What the path is made of: the strip's legend, with figures. */
export function PathParts({ payload }: { payload: CriticalPathPayload }) {
  const { parts } = payload;
  return (
    <ul class="path-parts">
      {parts.kind.map((kind, row) => (
        <li key={kind}>
          <span class="swatch" style={{ background: colorOf(kind) }} /> {labelOf(kind)}{" "}
          <strong class="number">{formatTime(parts.path_ns[row])}</strong>{" "}
          <span class="muted number">{formatShare(parts.share[row])}</span>
        </li>
      ))}
    </ul>
  );
}

export function pathColumns(payload: CriticalPathPayload, hrefOf: HrefOf): Column[] {
  const { rows } = payload;
  const event = (row: number): number => rows.event[row] ?? -1;
  return declaredColumns(
    PATH_EVENTS,
    rows,
    {
      name: {
        href: (row) => (event(row) >= 0 ? hrefOf("trace", { sel: String(event(row)) }) : null),
        unknown: () => "nothing recorded",
      },
      kind: { values: rows.kind.map((kind) => (kind === null ? null : labelOf(kind))) },
      operator: {
        href: (row) =>
          rows.operator[row] ? hrefOf("operator", exactly(rows.operator[row])) : null,
      },
    },
    payload.vocabulary,
  );
}
