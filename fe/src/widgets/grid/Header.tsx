import type { ComponentChildren, TargetedPointerEvent } from "preact";
import { clamp } from "../../base/clamp";
import { definitionOf } from "../../base/definitions";
import { Icon } from "../icons";
import { drag } from "../splitter";
import { Tooltip } from "../tooltip";
import { isText } from "./order";
import { NARROWEST, WIDEST } from "./storage";
import type { Column, Sort } from "./types";

/** Names of one word, such as a counter's, may break behind their marks. */
const breakable = (label: string): ComponentChildren =>
  label.split(/(?<=[_.])(?![_.])/).flatMap((part) => [part, <wbr />]);

interface HeaderProps {
  columns: readonly Column[];
  sort: Sort | null;
  hasToggle: boolean;
  onSort: (column: Column) => void;
  onWidth: (column: Column, width: number | null) => void;
}

export function Header({ columns, sort, hasToggle, onSort, onWidth }: HeaderProps) {
  return (
    <div role="rowgroup" class="grid-head">
      <div role="row" class="grid-row" aria-rowindex={1}>
        {columns.map((column, index) => (
          <HeadCell
            key={column.key}
            {...{ column, index, onSort, onWidth }}
            indent={hasToggle && index === 0}
            sort={sort?.key === column.key ? sort : null}
          />
        ))}
      </div>
    </div>
  );
}

interface HeadCellProps {
  column: Column;
  index: number;
  sort: Sort | null;
  indent: boolean;
  onSort: (column: Column) => void;
  onWidth: (column: Column, width: number | null) => void;
}

function HeadCell({ column, index, sort, indent, onSort, onWidth }: HeadCellProps) {
  const text = (column.term ? definitionOf(column.term)?.text : null) ?? column.hint;
  const order = sort ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <div
      role="columnheader"
      class={`grid-cell head-cell ${isText(column.kind) || column.draw ? "" : "number"}${indent ? " indent" : ""}`}
      aria-colindex={index + 1}
      aria-sort={order ?? "none"}
    >
      <Tooltip content={text} class="head-tip" focusable={false}>
        <button
          type="button"
          class={`head-button${sort ? " sorted" : ""}`}
          aria-description={text}
          onClick={() => onSort(column)}
        >
          <span class={`head-label${text ? " term-line" : ""}`}>{breakable(column.label)}</span>
          <span class="head-arrow">
            {sort ? <Icon name={sort.descending ? "down" : "up"} size={12} /> : null}
          </span>
        </button>
      </Tooltip>
      <span
        class="head-grip"
        onPointerDown={(event) => resize(event, (width) => onWidth(column, width))}
        onDblClick={() => onWidth(column, null)}
      />
    </div>
  );
}

function resize(event: TargetedPointerEvent<HTMLElement>, onWidth: (width: number) => void): void {
  const before = event.currentTarget.parentElement?.getBoundingClientRect().width ?? 0;
  drag(event, (x) => onWidth(Math.round(clamp(before + x, NARROWEST, WIDEST))));
}
