import type { ComponentChildren } from "preact";

interface PlainTableProps {
  class?: string;
  /** The classes hold for all cells of a column, `number` aligns them. */
  head: readonly { label: ComponentChildren; class?: string }[];
  /** Of each row its name and its cells. */
  rows: readonly (readonly ComponentChildren[])[];
  foot?: readonly ComponentChildren[];
  /** Whether only a screen reader needs the head. */
  bare?: boolean;
}

/** A few rows to read, which nobody sorts or searches. */
export function PlainTable({ class: name = "", head, rows, foot, bare = false }: PlainTableProps) {
  const line = (cells: readonly ComponentChildren[], row?: number) => (
    <tr key={row}>
      {cells.map((cell, i) =>
        i ? (
          <td key={i} class={head[i]?.class}>
            {cell}
          </td>
        ) : (
          <th key={i} scope="row">
            {cell}
          </th>
        ),
      )}
    </tr>
  );
  return (
    <table class={`plain-table ${name}`}>
      <thead class={bare ? "visually-hidden" : undefined}>
        <tr>
          {head.map(({ label, class: own }, i) => (
            <th key={i} scope="col" class={own}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{rows.map(line)}</tbody>
      {foot ? <tfoot>{line(foot)}</tfoot> : null}
    </table>
  );
}
