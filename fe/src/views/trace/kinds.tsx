/** Kinds of events, by which searches and areas are divided; what people look for first comes first. */

import type { ChosenKind, Kind } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { Segmented } from "../../widgets";

export const KINDS: readonly { kind: Kind; label: string }[] = [
  { kind: "device", label: "Device work" },
  { kind: "operator", label: "Operators" },
  { kind: "runtime", label: "Runtime" },
  { kind: "annotation", label: "Annotations" },
  { kind: "python", label: "Python" },
  { kind: "other", label: "Other" },
];

export const readKind = (text: string | undefined): ChosenKind =>
  text === "all" ? "all" : (KINDS.find(({ kind }) => kind === text)?.kind ?? "first");

export interface KindCount {
  kind: Kind;
  count: number;
}

/** Over all recordings, in the order of `KINDS`. */
export function mergedKinds(lists: readonly (readonly KindCount[])[]): KindCount[] {
  return KINDS.flatMap(({ kind }) => {
    const own = lists.flat().filter((each) => each.kind === kind);
    const count = own.reduce((sum, each) => sum + each.count, 0);
    return own.length ? [{ kind, count }] : [];
  });
}

interface KindChoiceProps {
  kind: ChosenKind;
  /** Those that there are, and the chosen one, are offered. */
  kinds: readonly KindCount[];
  onKind: (kind: ChosenKind) => void;
}

export const kindOptions = (kinds: readonly KindCount[], kind: ChosenKind) =>
  KINDS.flatMap(({ kind: value, label }) => {
    const known = kinds.find((each) => each.kind === value);
    return known || value === kind
      ? [{ value, label: `${label} ${formatCount(known?.count ?? 0)}` }]
      : [];
  });

export function KindChoice({ kind, kinds, onKind }: KindChoiceProps) {
  return (
    <Segmented<ChosenKind>
      label="Kind of event"
      showLabel={false}
      value={kind}
      onChange={onKind}
      options={kindOptions(kinds, kind)}
    />
  );
}
