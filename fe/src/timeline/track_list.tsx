import type { CSSProperties, HTMLAttributes, Ref } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "../base/units";
import { Icon } from "../widgets";
import { wheelPixels } from "./gestures";
import type { TrackNode } from "./props";
import type { RowLayout } from "./rows";
import { stickyHeight, stickyNote, stickyRow } from "./sticky";
import type { Row } from "./types";

export interface TrackActions {
  fold: (node: TrackNode, open: boolean) => void;
  pin: (node: TrackNode, pinned: boolean) => void;
  step: (node: TrackNode, by: 1 | -1) => void;
  canStep: (node: TrackNode, by: 1 | -1) => boolean;
  move: (key: string, to: string, behind: boolean) => void;
  /** A control in the row got the focus: bring it into sight. */
  focus: (row: Row) => void;
  scroll: (dy: number) => boolean;
}

interface TrackListProps {
  layout: RowLayout;
  /** Rows in sight, pinned ones first. */
  rows: readonly Row[];
  pinned: readonly string[];
  actions: TrackActions;
  moving: Ref<HTMLDivElement>;
  /** Holds the name that stays at the top. */
  sticky: Ref<HTMLDivElement>;
}

const INDENT = 12;

export function TrackList({ layout, rows, pinned, actions, moving, sticky }: TrackListProps) {
  const drag = useRowDrag(layout, actions);
  const stays = stickyRow(layout, rows);
  const draw = (row: Row, drawn = row) => {
    const note = layout.notes.get(row.key);
    if (!note?.node) return <LaneName key={row.key} row={row} />;
    return (
      <TrackName
        key={row.key}
        row={drawn}
        home={row}
        node={note.node}
        overlapping={note.owner.overlapping}
        pinned={pinned.includes(row.key)}
        actions={actions}
        drag={drag}
      />
    );
  };
  return (
    <div
      class="timeline-names"
      role="group"
      aria-label="Tracks of the timeline"
      // The rows move by a transform; a focus must not scroll the box behind it as well.
      onScroll={(event) => {
        event.currentTarget.scrollTop = 0;
      }}
      onWheel={(event) => {
        const { y } = wheelPixels(event, event.currentTarget.clientHeight);
        if (!event.ctrlKey && y !== 0 && actions.scroll(y)) event.preventDefault();
      }}
    >
      <div class="timeline-names-rest" style={{ top: `${layout.pinnedHeight}px` }}>
        <div
          ref={moving}
          class="timeline-names-moving"
          style={{ top: `${-layout.pinnedHeight}px` }}
        >
          {rows
            .filter((row) => !row.pinned)
            .map((row) => (row === stays ? <NoName key={row.key} row={row} /> : draw(row)))}
        </div>
        <div
          ref={sticky}
          class="timeline-names-sticky"
          style={{ height: `${stays ? stickyHeight(stays) : 0}px` }}
        >
          {stays
            ? draw(stays, {
                ...stays,
                y: 0,
                height: stickyHeight(stays),
                note: rows.includes(stays) ? stays.note : stickyNote(layout, stays),
              })
            : null}
        </div>
      </div>
      <div class="timeline-names-pinned" style={{ height: `${layout.pinnedHeight}px` }}>
        {rows.filter((row) => row.pinned).map((row) => draw(row))}
      </div>
    </div>
  );
}

/** The place of the name that stays at the top. */
const NoName = ({ row }: { row: Row }) => (
  <div class={`timeline-name timeline-name-${row.kind}`} style={place(row)} />
);

function LaneName({ row }: { row: Row }) {
  return (
    <div
      class={row.overlap ? "timeline-name timeline-name-overlap" : "timeline-name"}
      style={place(row)}
      data-row={row.key}
    >
      {row.overlap ? (
        <span class="timeline-overlap" title="These slices overlap those on the track above">
          <Icon name="overlap" size={12} /> overlap
        </span>
      ) : null}
    </div>
  );
}

function place({ y, height, indent }: Row): CSSProperties {
  return { top: `${y}px`, height: `${height}px`, paddingLeft: `${4 + indent * INDENT}px` };
}

interface TrackNameProps {
  /** As it is drawn. */
  row: Row;
  /** As it lies among the others. */
  home: Row;
  node: TrackNode;
  overlapping: number;
  pinned: boolean;
  actions: TrackActions;
  drag: RowDrag;
}

function TrackName({ row, home, node, overlapping, pinned, actions, drag }: TrackNameProps) {
  const side = drag.target?.behind ? " timeline-name-below" : " timeline-name-above";
  const target = drag.target?.key === row.key ? side : "";
  return (
    <div
      class={`timeline-name timeline-name-${row.kind}${drag.key === row.key ? " timeline-name-dragged" : ""}${target}`}
      style={place(row)}
      data-row={row.key}
      onFocusIn={() => row === home && actions.focus(home)}
      {...drag.listeners(home)}
    >
      <Label row={row} about={node.about} onFold={(open) => actions.fold(node, open)} />
      {overlapping > 0 ? <OverlapNote events={overlapping} /> : null}
      <span class="timeline-name-actions">
        <RowButton
          icon="up"
          label={`Move ${row.label} up`}
          disabled={!actions.canStep(node, -1)}
          onClick={() => actions.step(node, -1)}
        />
        <RowButton
          icon="down"
          label={`Move ${row.label} down`}
          disabled={!actions.canStep(node, 1)}
          onClick={() => actions.step(node, 1)}
        />
      </span>
      <RowButton
        icon="pin"
        label={pinned ? `Unpin ${row.label}` : `Pin ${row.label} to the top`}
        pressed={pinned}
        onClick={() => actions.pin(node, !pinned)}
      />
    </div>
  );
}

interface LabelProps {
  row: Row;
  about: string | undefined;
  onFold: (open: boolean) => void;
}

function Label({ row, about, onFold }: LabelProps) {
  const title = [row.label, row.note, about].filter(Boolean).join(" · ");
  const text = (
    <span class="timeline-words">
      <span class="timeline-label">{row.label}</span>{" "}
      {row.note ? <span class="timeline-note">{row.note}</span> : null}
    </span>
  );
  if (row.open === null) {
    return (
      <span class="timeline-title" title={title}>
        {text}
      </span>
    );
  }
  const open = row.open;
  return (
    <button
      type="button"
      class="timeline-title timeline-fold"
      title={title}
      aria-expanded={open}
      onClick={() => onFold(!open)}
    >
      <Icon name={open ? "down" : "chevron"} size={12} />
      {text}
    </button>
  );
}

function OverlapNote({ events }: { events: number }) {
  const text = `${formatCount(events)} ${events === 1 ? "event overlaps another" : "events overlap others"}; shown on tracks of their own below`;
  return (
    <span class="timeline-overlap" title={text}>
      <Icon name="overlap" size={12} />
      <span class="visually-hidden">{text}</span>
    </span>
  );
}

interface RowButtonProps {
  icon: "up" | "down" | "pin";
  label: string;
  pressed?: boolean;
  disabled?: boolean;
  onClick: () => void;
}

function RowButton({ icon, label, pressed, disabled = false, onClick }: RowButtonProps) {
  return (
    <button
      type="button"
      class="timeline-row-button"
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      <Icon name={icon} size={12} />
    </button>
  );
}

interface RowDrag {
  key: string | null;
  target: { key: string; behind: boolean } | null;
  listeners: (row: Row) => HTMLAttributes<HTMLDivElement>;
}

const SLOP = 5;

/** Dragging a row among its siblings; over others nothing is offered. */
function useRowDrag(layout: RowLayout, actions: TrackActions): RowDrag {
  const newest = useRef({ layout, actions });
  newest.current = { layout, actions };
  const end = useRef<() => void>(undefined);
  const [state, setState] = useState<Pick<RowDrag, "key" | "target">>({ key: null, target: null });
  useEffect(() => () => end.current?.(), []);
  const begin = (key: string, y: number): void => {
    end.current?.();
    const targetOf = (event: PointerEvent) => targetAt(event, newest.current.layout, key);
    const onMove = (event: PointerEvent): void => setState({ key, target: targetOf(event) });
    end.current = followPointer(y, onMove, (event) => {
      const target = event && targetOf(event);
      setState({ key: null, target: null });
      if (target) newest.current.actions.move(key, target.key, target.behind);
    });
  };
  const listeners = (row: Row): HTMLAttributes<HTMLDivElement> => ({
    onPointerDown: (event) => {
      const onButton =
        event.target instanceof Element && event.target.closest(".timeline-row-button");
      if (event.button === 0 && event.pointerType === "mouse" && !onButton)
        begin(row.key, event.clientY);
    },
  });
  return { ...state, listeners };
}

/** A named sibling under the pointer, and on which side of it. */
function targetAt(event: PointerEvent, layout: RowLayout, key: string): RowDrag["target"] {
  const element = document
    .elementFromPoint(event.clientX, event.clientY)
    ?.closest<HTMLElement>("[data-row]");
  const other = element?.dataset.row;
  if (!element || !other || other === key || !layout.notes.get(other)?.node) return null;
  const siblings = layout.notes.get(other)?.parent === layout.notes.get(key)?.parent;
  if (!siblings && !bothPinned(layout, other, key)) return null;
  const box = element.getBoundingClientRect();
  return { key: other, behind: event.clientY > box.top + box.height / 2 };
}

/** Follows the pointer over the whole window once it moved; a press that did not move stays a click. `onEnd` gets `null` when it was given up. */
function followPointer(
  y: number,
  onMove: (event: PointerEvent) => void,
  onEnd: (event: PointerEvent | null) => void,
): () => void {
  let dragging = false;
  const move = (event: PointerEvent): void => {
    dragging ||= Math.abs(event.clientY - y) >= SLOP;
    if (dragging) onMove(event);
  };
  const stop = (event: PointerEvent | null): void => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", stop);
    window.removeEventListener("pointercancel", giveUp);
    if (!dragging) return;
    onEnd(event);
    dragging = false;
    // The press began on the button that folds; its click is not meant.
    const swallow = (click: Event): void => click.stopPropagation();
    window.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => window.removeEventListener("click", swallow, true));
  };
  const giveUp = (): void => stop(null);
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", stop);
  window.addEventListener("pointercancel", giveUp);
  return giveUp;
}

function bothPinned(layout: RowLayout, a: string, b: string): boolean {
  const pinned = layout.rows.slice(0, layout.pinnedCount);
  return pinned.some((row) => row.key === a) && pinned.some((row) => row.key === b);
}
