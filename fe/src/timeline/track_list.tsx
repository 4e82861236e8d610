import type { ComponentChildren, CSSProperties, HTMLAttributes, Ref } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "../base/units";
import { Button, Icon } from "../widgets";
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

const LaneName = ({ row }: { row: Row }) => (
  <div
    class={`timeline-name${row.overlap ? " timeline-name-overlap" : ""}`}
    style={place(row)}
    data-row={row.key}
  >
    {row.overlap ? (
      <Overlap title="These slices overlap those on the track above">overlap</Overlap>
    ) : null}
  </div>
);

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
        {([-1, 1] as const).map((by) => {
          const way = by < 0 ? "up" : "down";
          return (
            <Button
              key={way}
              kind="quiet"
              icon={way}
              label={`Move ${row.label} ${way}`}
              disabled={!actions.canStep(node, by)}
              onClick={() => actions.step(node, by)}
            />
          );
        })}
      </span>
      <Button
        kind="quiet"
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
  const { open } = row;
  return open === null ? (
    <span class="timeline-title" title={title}>
      {text}
    </span>
  ) : (
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

/** Says that tracks overlap, with the details at the pointer. */
const Overlap = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <span class="timeline-overlap" title={title}>
    <Icon name="overlap" size={12} />
    {children}
  </span>
);

function OverlapNote({ events }: { events: number }) {
  const text = `${formatCount(events)} ${events === 1 ? "event overlaps another" : "events overlap others"}; shown on tracks of their own below`;
  return (
    <Overlap title={text}>
      <span class="visually-hidden">{text}</span>
    </Overlap>
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
      const onButton = event.target instanceof Element && event.target.closest(".button");
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
  const pinned = layout.rows.slice(0, layout.pinnedCount).map((row) => row.key);
  const siblings = layout.notes.get(other)?.parent === layout.notes.get(key)?.parent;
  if (!siblings && !(pinned.includes(other) && pinned.includes(key))) return null;
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
  const over = new AbortController();
  const { signal } = over;
  const stop = (event: PointerEvent | null): void => {
    over.abort();
    if (!dragging) return;
    onEnd(event);
    dragging = false;
    // The press began on the button that folds; its click is not meant.
    const swallow = (click: Event): void => click.stopPropagation();
    window.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => window.removeEventListener("click", swallow, true));
  };
  const giveUp = (): void => stop(null);
  window.addEventListener("pointermove", move, { signal });
  window.addEventListener("pointerup", stop, { signal });
  window.addEventListener("pointercancel", giveUp, { signal });
  return giveUp;
}
