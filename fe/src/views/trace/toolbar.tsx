import { endOnAxis, onAxis } from "../../timeline/clock";
import { useEffect, useRef } from "preact/hooks";
import type { AlignmentPayload, WorkerItem } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { Button, Checkbox, Icon, Menu, Segmented, Term, TextInput } from "../../widgets";
import { colourMark } from "./fact";
import { LOOKS } from "./looks";
import { LONGEST_NOTE, readColour, readGrouping } from "./params";
import { alignmentSummary, workerLines } from "./workers";
import { RankChoice } from "./rank_choice";
import { ALL_WORKERS, type Recordings, type Shown } from "./recordings";
import { goToMark, personal, withNote, withoutMark, type TraceState } from "./trace_state";

interface OfTraceState {
  state: TraceState;
}

export function StepJump({ state: { recording, handle } }: OfTraceState) {
  const { timeline } = recording;
  if (!timeline.steps.some((step) => step.name)) return null;
  return (
    <div class="select-box">
      <select
        aria-label="Go to a step"
        value=""
        onChange={({ currentTarget }) => {
          const step = timeline.steps[currentTarget.selectedIndex - 1];
          if (step)
            handle.current?.zoomTo({
              t0: onAxis(recording, step.start_ns),
              t1: endOnAxis(recording, step.end_ns),
            });
          currentTarget.value = "";
        }}
      >
        <option value="">Go to step …</option>
        {timeline.steps.map((step, place) => (
          <option key={place} value={String(place)}>
            {`${step.name} – ${formatTime(step.end_ns - step.start_ns)}`}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </div>
  );
}

export function ColourMenu({ state: { view, recordings, set } }: OfTraceState) {
  const value = readColour(view.params.colour);
  const hasModules = recordings.some(({ timeline }) => timeline.has_modules);
  return (
    <Menu label="Colour">
      <Segmented
        label="Colour by"
        value={value}
        onChange={(colour) => set({ colour })}
        options={[
          { value: "category", label: "Category" },
          { value: "name", label: "Name" },
          { value: "module", label: "Module", disabled: !hasModules },
        ]}
      />
      {hasModules ? null : (
        <p class="menu-note">No modules were recorded: record with with_stack=True.</p>
      )}
      {value === "category" ? (
        <ul class="look-list">
          {LOOKS.map(({ label, term, colour }) => (
            <li key={label}>
              {colourMark(colour)}
              <Term id={term} focusable={false}>
                {label}
              </Term>
            </li>
          ))}
        </ul>
      ) : (
        <p class="menu-note">
          {value === "name"
            ? "Each name has its own colour, the same in every trace."
            : "Events of a module share a colour; events outside modules are grey."}
        </p>
      )}
    </Menu>
  );
}

export function RowMenu({ state: { view, set } }: OfTraceState) {
  const { group, pin, order } = view.params;
  return (
    <Menu label="Tracks">
      <Segmented
        label="Group by"
        value={readGrouping(group)}
        onChange={(next) => set({ group: next })}
        options={[
          { value: "process", label: "Process" },
          { value: "device", label: "Device" },
          { value: "kind", label: "Kind" },
        ]}
      />
      <p class="menu-note">Drag a track by its name to move it; pin it to keep it at the top.</p>
      <Button
        kind="quiet"
        icon="reload"
        disabled={pin === undefined && order === undefined}
        onClick={() => set({ pin: null, order: null })}
      >
        Unpin all, original order
      </Button>
    </Menu>
  );
}

export function ArrowMenu({ state: { recording, kinds: chosen, all, set } }: OfTraceState) {
  const known = recording.timeline.arrow_kinds.filter(({ total }) => total > 0);
  if (!known.length) return null;
  return (
    <Menu label={chosen.length ? `Flows (${chosen.length})` : "Flows"}>
      {known.map(({ kind, label, total }) => (
        <Checkbox
          key={kind}
          label={
            <>
              {label} <span class="muted">{formatCount(total)}</span>
            </>
          }
          checked={chosen.includes(kind)}
          onChange={(on) => {
            const others = chosen.filter((other) => other !== kind);
            set({ arrows: (on ? [...others, kind] : others).join(",") });
          }}
        />
      ))}
      <p class="menu-note" role="status">
        {arrowText(chosen.length, all.arrows.length, all.total)}
      </p>
    </Menu>
  );
}

export function arrowText(kinds: number, shown: number, total: number): string {
  if (kinds === 0) return "Flows of the selected event are always shown.";
  if (total === 0) return "No flows in view.";
  if (shown < total)
    return `${formatCount(shown)} of ${formatCount(total)} flows in view shown. Zoom in to see the others.`;
  return `All ${formatCount(total)} flows in view are shown.`;
}

/** Marks that a person set, with their notes, and stretches that a defect touches. It opens when one is added. */
export function MarkMenu({ state }: OfTraceState) {
  const { marks } = state;
  const added = useAdditions(personal(state).length);
  if (!marks.length) return null;
  return (
    <Menu key={added} label={`Notes (${marks.length})`} opened={added > 0}>
      <MarkList state={state} focused={added > 0} />
    </Menu>
  );
}

/** How often a number grew. */
function useAdditions(count: number): number {
  const before = useRef({ count, grown: 0 });
  if (count > before.current.count) before.current.grown++;
  before.current.count = count;
  return before.current.grown;
}

function MarkList({ state, focused }: OfTraceState & { focused: boolean }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (focused) [...(list.current?.querySelectorAll("input") ?? [])].at(-1)?.focus();
  }, [focused]);
  return (
    <ul class="mark-list" ref={list}>
      {state.marks.map((mark) => {
        const { key, kind, label, note = "", start } = mark;
        // Times are told from the begin of the whole timeline.
        const time = formatTime(start - state.span.t0);
        return (
          <li key={key}>
            {kind === "defect" ? (
              <>
                <Icon name="warn" size={14} />
                <span>{label}</span>
              </>
            ) : (
              <TextInput
                aria-label={`Note at ${time}`}
                placeholder="Note"
                maxLength={LONGEST_NOTE}
                value={note}
                onCommit={(text) => withNote(state, mark, text)}
              />
            )}
            <button
              type="button"
              class="link number"
              title={`Go to ${label}`}
              onClick={() => goToMark(state, mark)}
            >
              {time}
            </button>
            {kind === "person" ? (
              <Button
                kind="quiet"
                icon="close"
                label={`Remove ${label}`}
                onClick={() => withoutMark(state, mark)}
              />
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

export const workerCount = (shown: number, total: number): string =>
  total > shown ? `${formatCount(shown)} of ${formatCount(total)}` : `all (${formatCount(shown)})`;

interface WorkerChoiceProps {
  shown: Shown;
  parts: Recordings["parts"];
  alignment: AlignmentPayload | null;
  /** Workers of the run, of which those with a rank can be chosen by it. */
  workers: readonly Pick<WorkerItem, "name" | "rank">[];
  /** Its rank is what a choice of ranks begins with. */
  own: string;
  /** It was used just now, and drawn anew with what was chosen. */
  focused: boolean;
  onShown: (shown: Shown) => void;
}

export function WorkerChoice(props: WorkerChoiceProps) {
  const { shown, parts, alignment, workers, own, focused, onShown } = props;
  const chosen = shown === ALL_WORKERS ? "" : shown;
  const ownRank = workers.find(({ name }) => name === own)?.rank ?? null;
  const total = alignment?.workers_total ?? parts.length;
  const wanted = alignment?.workers_chosen ?? parts.length;
  return (
    <Menu
      label={
        !shown
          ? "Workers: this one"
          : `Workers: ${chosen ? `${parts.length} chosen` : workerCount(parts.length, total)}`
      }
      focused={focused}
      // Who asked for some ranks says now for which.
      opened={focused && chosen === String(ownRank)}
    >
      <Segmented
        label="Show"
        value={chosen ? "ranks" : shown}
        onChange={(value) => onShown(value === "ranks" ? String(ownRank ?? 0) : value)}
        options={[
          { value: "", label: "This one" },
          { value: ALL_WORKERS, label: "All of the run", term: "alignment" },
          { value: "ranks", label: "Some ranks", disabled: ownRank === null },
        ]}
      />
      {chosen ? (
        <RankChoice key={chosen} ranks={chosen} workers={workers} onRanks={onShown} />
      ) : null}
      {shown ? (
        <>
          <p class="menu-note">
            <Term id="alignment">{alignmentSummary(parts)}</Term>
          </p>
          {wanted > parts.length ? (
            <p class="menu-note">Too many to draw; the nearest ranks are shown.</p>
          ) : null}
          <ul class="worker-list">
            {workerLines(parts).map(({ key, label, text, waiting }) => (
              <li key={key}>
                <strong>{label}</strong>{" "}
                <span class={waiting ? "muted worker-waiting" : "muted"}>{text}</span>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </Menu>
  );
}
