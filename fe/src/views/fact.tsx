import type { ComponentChildren } from "preact";
import { formatExactTime, formatTime } from "../base/units";

/** A line of a list of facts, where there is a value; `title` says it exactly. */
export const fact = (label: ComponentChildren, value: ComponentChildren, title?: string) =>
  value === null || value === "" ? null : (
    <div class="fact">
      <dt>{label}</dt>
      <dd title={title}>{value}</dd>
    </div>
  );

export const timeFact = (label: ComponentChildren, ns: number | null) =>
  fact(label, ns === null ? null : formatTime(ns), formatExactTime(ns));
