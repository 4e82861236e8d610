/**
 * A flame graph: frames above what they call, as wide as the time they take.
 *
 * A click or Enter makes a frame as wide as the graph; Escape and the names above lead out again, [ and ] back and forward; arrows go from frame to frame.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useId } from "../../base/id";
import { watchTheme } from "../../base/theme";
import { Button } from "../buttons";
import { useWidth } from "../charts/size";
import { Floating } from "../tooltip";
import {
  brushOf,
  drawFlame,
  edgesOf,
  type FlameBrush,
  type FlameTint,
  FRAME_HEIGHT,
  lineOf,
} from "./draw";
import {
  firstSplit,
  type FlameLayout,
  type FlameView,
  frameAt,
  neighbour,
  viewOf,
  wayTo,
} from "./layout";

const MOST_HEIGHT = 460;
const NAMED = 5;
/** Frames that stay in sight above the one that is zoomed to, or above the first that tell something. */
const KEPT_ABOVE = 3;

export interface FlameProps {
  label: string;
  layout: FlameLayout;
  parent: ArrayLike<number>;
  name: readonly string[];
  /** Place in `FLAME_KINDS` of each frame. */
  kind: ArrayLike<number>;
  hatched?: ArrayLike<boolean>;
  /** Frames that a search found; null without one. */
  found?: Uint8Array | null;
  /** Colours by something else than the kind. */
  tint?: FlameTint | null;
  /** The outermost frames stand at the bottom. */
  upward?: boolean;
  /** The frame that is as wide as the graph, −1 the whole, where somebody else keeps it. */
  zoom?: number;
  onZoom?: (row: number) => void;
  /** What the card at the pointer says, its first line the name. */
  describe: (row: number) => readonly string[];
  /** What stands below the graph for the frame that was chosen last, or else the one in sight; −1: none. */
  detail?: (row: number) => ComponentChildren;
}

type Zoomed = FlameProps & { zoom: number };

interface Hovered {
  row: number;
  x: number;
  y: number;
}

export function Flame(given: FlameProps) {
  const { label, layout, parent, name, describe, upward = false } = given;
  const [own, setOwn] = useState({ parent, at: -1 });
  const { zoom = own.parent === parent ? own.at : -1 } = given;
  const props = { ...given, zoom };
  const zooms = useZooms(parent, zoom, given.onZoom ?? ((at) => setOwn({ parent, at })));
  const onZoom = zooms.go;
  const id = useId("flame");
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const [active, setActive] = useActive(layout);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const full = layout.byLevel.length * FRAME_HEIGHT;
  const height = Math.min(MOST_HEIGHT, full);
  const view = viewOf(layout, zoom);
  useDrawing(props, box, canvas, width, height);
  const under = (event: MouseEvent): number => {
    const { left, top } = canvas.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    const line = Math.floor((event.clientY - top + (box.current?.scrollTop ?? 0)) / FRAME_HEIGHT);
    const level = lineOf(line, layout.byLevel.length, upward);
    return frameAt(layout, level, view.begin + ((event.clientX - left) / width) * view.length);
  };
  return (
    <div class="flame">
      <div class="flame-head">
        <Button
          kind="quiet"
          label="Previous zoom"
          disabled={!zooms.back}
          onClick={() => zooms.step(-1)}
        >
          ←
        </Button>
        <Button
          kind="quiet"
          label="Next zoom"
          disabled={!zooms.forward}
          onClick={() => zooms.step(1)}
        >
          →
        </Button>
        <Way {...{ parent, name, zoom, onZoom }} />
      </div>
      <div
        ref={box}
        class="flame-box"
        style={{ height: `${height}px` }}
        onPointerLeave={() => setHovered(null)}
      >
        <div class="flame-content" style={{ height: `${full}px` }}>
          <canvas
            ref={canvas}
            class="flame-canvas"
            style={{ height: `${height}px` }}
            role="application"
            aria-roledescription="flame graph"
            aria-label={label}
            aria-describedby={id}
            tabIndex={0}
            onKeyDown={(event) => onKey(event, props, zooms, active, setActive)}
            onPointerMove={(event) =>
              setHovered({ row: under(event), x: event.clientX, y: event.clientY })
            }
            onClick={(event) => {
              const row = under(event);
              setActive(row);
              if (row >= 0) onZoom(row);
            }}
          />
          <Mark row={active} {...{ layout, view, width, upward }} kind="flame-active" />
          <Mark
            row={hovered?.row ?? -1}
            {...{ layout, view, width, upward }}
            kind="flame-hovered"
          />
        </div>
      </div>
      {hovered && hovered.row >= 0 ? <Card at={hovered} lines={describe(hovered.row)} /> : null}
      <p id={id} class="visually-hidden">
        Arrows go from frame to frame, Enter zooms in, Escape out, Home to the whole, [ and ] back
        and forward.
      </p>
      <p class="visually-hidden" role="status">
        {active >= 0 ? describe(active).join(", ") : ""}
      </p>
      {given.detail?.(active < 0 ? zoom : active)}
    </div>
  );
}

interface MarkProps {
  row: number;
  layout: FlameLayout;
  view: FlameView;
  width: number;
  upward: boolean;
  kind: string;
}

function Mark({ row, layout, view, width, upward, kind }: MarkProps) {
  const [x0, x1] = edgesOf(layout, row, view, width);
  if (row < 0 || x1 < x0) return null;
  return (
    <div
      class={`flame-mark ${kind}`}
      style={{
        left: `${x0}px`,
        top: `${lineOf(layout.levels[row] ?? 0, layout.byLevel.length, upward) * FRAME_HEIGHT}px`,
        width: `${Math.max(2, x1 - x0)}px`,
      }}
    />
  );
}

/** The chosen frame; none after the graph was laid out anew. */
function useActive(layout: FlameLayout): [number, (row: number) => void] {
  const [chosen, setChosen] = useState({ layout, row: -1 });
  return [chosen.layout === layout ? chosen.row : -1, (row) => setChosen({ layout, row })];
}

interface Slot<T> {
  readonly current: T | null;
}

/** Draws when something changed, once per frame of the display. */
function useDrawing(
  props: Zoomed,
  box: Slot<HTMLDivElement>,
  canvas: Slot<HTMLCanvasElement>,
  width: number,
  height: number,
): void {
  const { layout, name, kind, hatched, found } = props;
  const { zoom, tint = null, upward = false } = props;
  const draw = useRef<(forget?: boolean) => void>(() => undefined);
  const brush = useRef<FlameBrush | null>(null);
  useLayoutEffect(() => {
    let waiting = 0;
    draw.current = (forget = false) => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => {
        if (forget) brush.current = null;
        brush.current ??= canvas.current && brushOf(canvas.current);
        if (!brush.current) return;
        drawFlame(brush.current, {
          layout,
          name,
          kind,
          hatched,
          found,
          tint,
          upward,
          view: viewOf(layout, zoom),
          scroll: box.current?.scrollTop ?? 0,
          width,
          height,
        });
      });
    };
    draw.current();
    return () => cancelAnimationFrame(waiting);
  }, [box, canvas, layout, name, kind, hatched, found, tint, upward, zoom, width, height]);
  useEffect(() => {
    const element = box.current;
    const scrolled = (): void => draw.current();
    element?.addEventListener("scroll", scrolled, { passive: true });
    const end = watchTheme(() => draw.current(true));
    return () => {
      element?.removeEventListener("scroll", scrolled);
      end();
    };
  }, [box]);
  useEffect(() => {
    const level = zoom < 0 ? firstSplit(layout) : (layout.levels[zoom] ?? 0);
    const line = lineOf(level, layout.byLevel.length, upward);
    box.current?.scrollTo({
      top:
        upward && zoom < 0
          ? Math.max(0, layout.byLevel.length * FRAME_HEIGHT - MOST_HEIGHT)
          : Math.max(0, (line - KEPT_ABOVE) * FRAME_HEIGHT),
    });
  }, [box, layout, zoom, upward]);
}

const flipped = (key: string): string =>
  key === "ArrowUp" ? "ArrowDown" : key === "ArrowDown" ? "ArrowUp" : key;

function onKey(
  event: KeyboardEvent,
  { layout, parent, zoom, upward = false }: Zoomed,
  { go: onZoom, step }: Zooms,
  active: number,
  setActive: (row: number) => void,
): void {
  const { begin, length } = viewOf(layout, zoom);
  const out = zoom < 0 ? -1 : (parent[zoom] ?? -1);
  const target = neighbour(
    layout,
    parent,
    active < 0 && zoom >= 0 ? zoom : active,
    upward ? flipped(event.key) : event.key,
  );
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (target !== null) {
    const left = layout.left[target] ?? 0;
    if (left < begin + length && left + (layout.width[target] ?? 0) > begin) setActive(target);
  } else if (event.key === "Enter" && active >= 0) onZoom(active);
  else if (event.key === "[") step(-1);
  else if (event.key === "]") step(1);
  else if (event.key === "Home") onZoom(-1);
  else if ((event.key === "Escape" || event.key === "Backspace") && zoom >= 0) onZoom(out);
  else return;
  event.preventDefault();
}

function Way({
  parent,
  name,
  zoom,
  onZoom,
}: Pick<Zoomed, "parent" | "name" | "zoom"> & { onZoom: (row: number) => void }) {
  const path = wayTo(parent, zoom);
  const shown = path.slice(-NAMED);
  return (
    <nav class="flame-way" aria-label="Zoomed into">
      {zoom < 0 ? <span>All</span> : <WayButton text="All" onClick={() => onZoom(-1)} />}
      {shown.length < path.length ? <span aria-hidden="true"> › …</span> : null}
      {shown.map((row) => (
        <span key={row}>
          <span aria-hidden="true"> › </span>
          {row === zoom ? (
            <strong aria-current="true">{name[row]}</strong>
          ) : (
            <WayButton text={name[row] ?? ""} onClick={() => onZoom(row)} />
          )}
        </span>
      ))}
    </nav>
  );
}

function WayButton({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button type="button" class="link" onClick={onClick}>
      {text}
    </button>
  );
}

function Card({ at: { x, y }, lines }: { at: Hovered; lines: readonly string[] }) {
  const [first, ...rest] = lines;
  return (
    <Floating box={() => ({ left: x, top: y, bottom: y + 10, width: 0 })}>
      <strong class="flame-name">{first}</strong>
      {rest.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </Floating>
  );
}

export interface ZoomPath {
  readonly zooms: readonly number[];
  readonly at: number;
}

/** Goes to a frame: what was ahead is forgotten; the frame in sight again changes nothing. */
export function visited({ zooms, at }: ZoomPath, zoom: number): ZoomPath {
  return zooms[at] === zoom
    ? { zooms, at }
    : { zooms: [...zooms.slice(0, at + 1), zoom], at: at + 1 };
}

interface Zooms {
  go: (zoom: number) => void;
  /** −1: to what was in sight before, 1: forward again. */
  step: (by: -1 | 1) => void;
  back: boolean;
  forward: boolean;
}

/** Begins anew with each tree of frames, and follows a zoom that comes from elsewhere, such as a link. */
function useZooms(tree: unknown, zoom: number, onZoom: (row: number) => void): Zooms {
  const kept = useRef<{ tree: unknown; path: ZoomPath }>({ tree, path: { zooms: [zoom], at: 0 } });
  if (kept.current.tree !== tree) kept.current = { tree, path: { zooms: [zoom], at: 0 } };
  kept.current.path = visited(kept.current.path, zoom);
  const { zooms, at } = kept.current.path;
  return {
    go: onZoom,
    step: (by) => {
      const target = zooms[at + by];
      if (target === undefined) return;
      kept.current.path = { zooms, at: at + by };
      onZoom(target);
    },
    back: at > 0,
    forward: at < zooms.length - 1,
  };
}
