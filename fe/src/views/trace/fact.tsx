import type { ComponentChildren } from "preact";

/** A line of a list of facts; `title` says the value exactly. */
export function fact(label: ComponentChildren, value: ComponentChildren, title?: string) {
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd title={title}>{value}</dd>
    </div>
  );
}
