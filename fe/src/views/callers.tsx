/** Below an open row of Operator or Kernel: who calls it, in the columns of the table. */

import { useState } from "preact/hooks";
import type { EfficiencyGroup, CallersTable } from "../api/types.gen";
import { useResource } from "../state/resource";
import { viewQuery, type ViewProps } from "../state/view";
import { Beneath, Checkbox, type Column } from "../widgets";
import { Loaded, MissingList } from "./loaded";
import { splitFrame } from "./operator/model";

interface CallersProps extends ViewProps {
  of: EfficiencyGroup;
  name: string;
  shapes?: string | null;
  visible: readonly Column[];
  /** The column by which shares are, its value of the open row, and that row's share. */
  shareOf: "device_self_ns" | "host_self_ns" | "total_ns";
  whole: number;
  share: number | null;
}

export function Callers(props: CallersProps) {
  const { of, name, shapes = null, visible } = props;
  const [library, setLibrary] = useState(false);
  const resource = useResource(
    "callers",
    viewQuery(props, { of, name, shapes, library: library ? ("1" as const) : null }),
  );
  return (
    <Loaded resource={resource} shape={[72]}>
      {({ rows, missing }) => (
        <>
          <div class="beneath-head">
            <span class="muted">
              {rows.name.length
                ? "Called from, the program’s own lines first"
                : "No call has a call stack or an operator."}
            </span>
            {rows.name.length ? (
              <Checkbox label="Frames of libraries" checked={library} onChange={setLibrary} />
            ) : null}
          </div>
          <Beneath
            key={String(library)}
            label={`Callers of ${name}`}
            visible={visible}
            columns={callerColumns(rows, props)}
            tree={rows.parent}
          />
          <MissingList missing={missing} />
        </>
      )}
    </Loaded>
  );
}

type Shared = Pick<CallersProps, "visible" | "shareOf" | "whole" | "share">;

/** The name, and what is known in the columns of the table. */
export function callerColumns(
  rows: CallersTable,
  { visible, shareOf, whole, share }: Shared,
): Column[] {
  const known: Record<string, readonly (number | null)[]> = {
    ...(rows as unknown as Record<string, (number | null)[]>),
    time_share: rows[shareOf].map((ns) =>
      share !== null && whole ? (share * (ns ?? 0)) / whole : null,
    ),
    mean_ns: rows.total_ns.map((ns, row) => (ns === null ? null : ns / (rows.calls[row] ?? 1))),
  };
  const name: Column = {
    key: "name",
    label: "",
    kind: "code",
    values: rows.name,
    short: rows.name.map((text, row) => (rows.kind[row] === "operator" ? text : frameText(text))),
    note: (row) =>
      rows.layers[row] ? (
        <span class="muted" title={rows.layers[row]}>
          {rows.layers[row]}
        </span>
      ) : null,
  };
  const figures = visible.slice(1).flatMap((column): Column[] => {
    const values = known[column.key];
    return values && !column.action
      ? [{ key: column.key, label: "", kind: column.kind, values, unknown: () => null }]
      : [];
  });
  return [name, ...figures];
}

/** `src/model.py(40): forward` as `model.py:40 forward`. */
export function frameText(frame: string): string {
  const { file, line, func } = splitFrame(frame);
  return line === null ? func : `${file.split(/[\\/]/).at(-1) ?? ""}:${line} ${func}`;
}
