import { useEffect, useRef } from "preact/hooks";
import type { AlignmentPayload, ArrowKind, TimelineStep, WorkerItem } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import type { ColourBy, Mark } from "../../timeline/types";
import { Button, Checkbox, Icon, Menu, Segmented, Term } from "../../widgets";
import { colourMark } from "./fact";
import { LOOKS } from "./looks";
import { LONGEST_NOTE } from "./params";
import { alignmentSummary, workerLines } from "./workers";
import { RankChoice } from "./rank_choice";
import type { Recordings, Shown } from "./recordings";
import type { Grouping } from "./tree";

interface StepJumpProps {
  steps: readonly TimelineStep[];
  onStep: (step: TimelineStep) => void;
}

export function StepJump({ steps, onStep }: StepJumpProps) {
  if (!steps.some((step) => step.name)) return null;
  return (
    <div class="select-box">
      <select
        aria-label="Go to a step"
        value=""
        onChange={(event) => {
          const step = steps[Number(event.currentTarget.value)];
          if (event.currentTarget.value !== "" && step) onStep(step);
          event.currentTarget.value = "";
        }}
      >
        <option value="">Go to step …</option>
        {steps.map((step, place) => (
          <option key={place} value={String(place)}>
            {`${step.name} – ${formatTime(step.end_ns - step.start_ns)}`}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </div>
  );
}

interface ColourMenuProps {
  value: ColourBy;
  hasModules: boolean;
  onChange: (colour: ColourBy) => void;
}

export function ColourMenu({ value, hasModules, onChange }: ColourMenuProps) {
  return (
    <Menu label="Colour">
      <Segmented
        label="Colour by"
        value={value}
        onChange={onChange}
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

interface RowMenuProps {
  value: Grouping;
  onChange: (grouping: Grouping) => void;
  /** Rows are pinned or moved. */
  changed: boolean;
  onReset: () => void;
}

export function RowMenu({ value, onChange, changed, onReset }: RowMenuProps) {
  return (
    <Menu label="Tracks">
      <Segmented
        label="Group by"
        value={value}
        onChange={onChange}
        options={[
          { value: "process", label: "Process" },
          { value: "device", label: "Device" },
          { value: "kind", label: "Kind" },
        ]}
      />
      <p class="menu-note">Drag a track by its name to move it; pin it to keep it at the top.</p>
      <Button kind="quiet" icon="reload" disabled={!changed} onClick={onReset}>
        Unpin all, original order
      </Button>
    </Menu>
  );
}

interface ArrowMenuProps {
  kinds: readonly ArrowKind[];
  chosen: readonly string[];
  /** How many are drawn of how many that touch what is in sight. */
  shown: number;
  total: number;
  onChange: (kinds: readonly string[]) => void;
}

export function ArrowMenu({ kinds, chosen, shown, total, onChange }: ArrowMenuProps) {
  const known = kinds.filter(({ total: all }) => all > 0);
  if (!known.length) return null;
  const toggle = (kind: string, on: boolean): void =>
    onChange(on ? [...chosen, kind] : chosen.filter((other) => other !== kind));
  return (
    <Menu label={chosen.length ? `Flows (${chosen.length})` : "Flows"}>
      {known.map(({ kind, label, total: all }) => (
        <Checkbox
          key={kind}
          label={
            <>
              {label} <span class="muted">{formatCount(all)}</span>
            </>
          }
          checked={chosen.includes(kind)}
          onChange={(on) => toggle(kind, on)}
        />
      ))}
      <p class="menu-note" role="status">
        {arrowText(chosen.length, shown, total)}
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

interface MarkMenuProps {
  marks: readonly Mark[];
  /** Of the whole timeline: times are told from there. */
  origin: number;
  onGo: (mark: Mark) => void;
  onNote: (mark: Mark, note: string) => void;
  onRemove: (mark: Mark) => void;
}

/** Marks that a person set, with their notes, and stretches that a defect touches. It opens when one is added. */
export function MarkMenu({ marks, ...props }: MarkMenuProps) {
  const added = useAdditions(marks.filter(({ kind }) => kind === "person").length);
  if (!marks.length) return null;
  return (
    <Menu key={added} label={`Notes (${marks.length})`} opened={added > 0}>
      <MarkList marks={marks} focused={added > 0} {...props} />
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

function MarkList({
  marks,
  focused,
  origin,
  onGo,
  onNote,
  onRemove,
}: MarkMenuProps & { focused: boolean }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (focused) [...(list.current?.querySelectorAll("input") ?? [])].at(-1)?.focus();
  }, [focused]);
  return (
    <ul class="mark-list" ref={list}>
      {marks.map((mark) => (
        <li key={mark.key}>
          {mark.kind === "defect" ? (
            <>
              <Icon name="warn" size={14} />
              <span>{mark.label}</span>
            </>
          ) : (
            <input
              type="text"
              aria-label={`Note at ${formatTime(mark.start - origin)}`}
              placeholder="Note"
              maxLength={LONGEST_NOTE}
              value={mark.note ?? ""}
              onChange={(event) => onNote(mark, event.currentTarget.value)}
            />
          )}
          <button
            type="button"
            class="link number"
            title={`Go to ${mark.label}`}
            onClick={() => onGo(mark)}
          >
            {formatTime(mark.start - origin)}
          </button>
          {mark.kind === "person" ? (
            <Button
              kind="quiet"
              icon="close"
              label={`Remove ${mark.label}`}
              onClick={() => onRemove(mark)}
            />
          ) : null}
        </li>
      ))}
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

const modeOf = (shown: Shown): "one" | "all" | "ranks" =>
  typeof shown === "string" ? shown : "ranks";

export function WorkerChoice(props: WorkerChoiceProps) {
  const { shown, parts, alignment, workers, own, focused, onShown } = props;
  const chosen = typeof shown === "string" ? "" : shown.ranks;
  const ownRank = workers.find(({ name }) => name === own)?.rank ?? null;
  const total = alignment?.workers_total ?? parts.length;
  const wanted = alignment?.workers_chosen ?? parts.length;
  return (
    <Menu
      label={
        shown === "one"
          ? "Workers: this one"
          : `Workers: ${chosen ? `${parts.length} chosen` : workerCount(parts.length, total)}`
      }
      focused={focused}
    >
      <Segmented
        label="Show"
        value={modeOf(shown)}
        onChange={(value) => onShown(value === "ranks" ? { ranks: String(ownRank ?? 0) } : value)}
        options={[
          { value: "one", label: "This one" },
          { value: "all", label: "All of the run", term: "alignment" },
          { value: "ranks", label: "Some ranks", disabled: ownRank === null },
        ]}
      />
      {chosen ? (
        <RankChoice
          key={chosen}
          ranks={chosen}
          workers={workers}
          onRanks={(ranks) => onShown({ ranks })}
        />
      ) : null}
      {shown === "one" ? null : (
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
      )}
    </Menu>
  );
}
