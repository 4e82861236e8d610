import type { AlignmentPayload, ArrowKind, TimelineStep, WorkerItem } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import type { ColourBy, Mark } from "../../timeline/types";
import { Button, Checkbox, Icon, Menu, Segmented, Term } from "../../widgets";
import { LOOKS } from "./looks";
import { alignmentSummary, workerLines } from "./workers";
import { RankChoice } from "./rank_choice";
import type { Recordings, Shown } from "./recordings";

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
          {LOOKS.map((look) => (
            <li key={look.label}>
              <span class="look" style={{ background: `var(${look.colour})` }} />
              <Term id={look.term} focusable={false}>
                {look.label}
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
  onGo: (mark: Mark) => void;
  onRemove: (mark: Mark) => void;
}

/** Marks that a person set, and stretches that a defect touches. */
export function MarkMenu({ marks, onGo, onRemove }: MarkMenuProps) {
  if (!marks.length) return null;
  return (
    <Menu label={`Marks (${marks.length})`}>
      <ul class="mark-list">
        {marks.map((mark) => (
          <li key={mark.key}>
            {mark.kind === "defect" ? <Icon name="warn" size={14} /> : null}
            <button type="button" class="link" onClick={() => onGo(mark)}>
              {mark.label}
            </button>
            <span class="muted">{formatTime(mark.start)}</span>
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
    </Menu>
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
