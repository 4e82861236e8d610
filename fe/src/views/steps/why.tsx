/** Why a step takes longer, or shorter, than the median step. */

import { useEffect, useRef } from "preact/hooks";
import type { DifferencePart, StepDifferencePayload } from "../../api/types.gen";
import { useId } from "../../base/id";
import { formatDelta, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { ALL_STEPS, onlyOne, onlyStep, viewQuery, type ViewProps } from "../../state/view";
import { type Bar, Bars, Button, unbroken } from "../../widgets";
import { Loaded } from "../loaded";
import { fallsOf, linksOf, reasonOf, type Fall } from "./model";

interface WhyProps extends ViewProps {
  ranks: "own" | "all";
  /** Its number among the bars, and in the chosen trace, −1 none. */
  step: number;
  ownStep: number;
  /** What is read above it already. */
  said: string;
  onClose: () => void;
}

export function Why({ ranks, step, ownStep, said, onClose, ...props }: WhyProps) {
  const query = viewQuery(
    { selection: props.selection, steps: ALL_STEPS },
    { ranks, step: String(step) },
  );
  const resource = useResource("critical_path/step", query);
  const id = useId("why");
  const box = useRef<HTMLElement>(null);
  // What was asked for may open below the window.
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), [step, resource.data]);
  return (
    <section class="why" ref={box} aria-labelledby={id}>
      <Loaded resource={resource} shape={[240]}>
        {(payload) => (
          <>
            <header class="why-head">
              <h3
                id={id}
                aria-live="polite"
                class={payload.headline === said ? "visually-hidden" : ""}
              >
                {unbroken(payload.headline)}
              </h3>
              <Button kind="quiet" onClick={onClose}>
                Close
              </Button>
            </header>
            {payload.parts.length ? (
              <div class="why-two">
                <Waterfall payload={payload} />
                {payload.late.length ? (
                  <Late payload={payload} />
                ) : (
                  <Differences title="Operators and lines that differ" parts={payload.places} />
                )}
              </div>
            ) : null}
            <Links {...props} payload={payload} ownStep={ownStep} />
          </>
        )}
      </Loaded>
    </section>
  );
}

const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;
const toneOf = (ns: number): string => (ns > 0 ? "fall-lost" : "fall-gained");

function Waterfall({ payload }: { payload: StepDifferencePayload }) {
  const { median, step } = payload;
  return (
    <ul
      class="falls"
      aria-label={`From step ${median?.label ?? ""} to step ${step.label}, by cause`}
    >
      {fallsOf(payload).map((fall, place) => (
        <li key={place} class={fall.part ? "fall" : "fall fall-total"}>
          <Told fall={fall} first={place === 0} />
          <div class="fall-track">
            <i
              class={`fall-bar ${fall.part ? toneOf(fall.ns) : ""}`}
              style={{ left: percent(fall.from), width: percent(fall.to - fall.from) }}
            />
            <b class="number" style={{ left: percent(fall.to) }}>
              {fall.part ? formatDelta(fall.ns) : formatTime(fall.ns)}
            </b>
          </div>
        </li>
      ))}
    </ul>
  );
}

function Told({ fall: { label, part }, first }: { fall: Fall; first: boolean }) {
  return (
    <div class="fall-label">
      <b>{label}</b>
      {part ? <Place part={part} /> : first ? <small>the median</small> : null}
    </div>
  );
}

/** Who and what makes a part, and at which line. */
function Place({ part }: { part: DifferencePart }) {
  const reason = reasonOf(part);
  if (!reason && !part.at) return null;
  return (
    <small title={part.line}>
      {reason}
      {reason && part.at ? ", " : ""}
      {part.at ? <code>{part.at}</code> : null}
    </small>
  );
}

function Late({ payload: { late, step, parts } }: { payload: StepDifferencePayload }) {
  const most = Math.max(1, ...late.map(({ late_ns }) => late_ns ?? 0));
  const [part] = parts;
  return (
    <Titled
      title={`How late each rank came to the collectives of step ${step.label}`}
      bars={late.map(({ name, late_ns }) => ({
        name,
        share: (late_ns ?? 0) / most,
        text: formatTime(late_ns),
        tone: name === part?.who ? `fall-of-${part.group}` : "",
      }))}
    />
  );
}

function Differences({ title, parts }: { title: string; parts: readonly DifferencePart[] }) {
  const most = Math.max(1, ...parts.map(({ difference_ns }) => Math.abs(difference_ns)));
  return (
    <Titled
      title={title}
      bars={parts.map(({ what, label, at, difference_ns }) => ({
        name: what || label,
        place: at,
        share: Math.abs(difference_ns) / most,
        text: formatDelta(difference_ns),
        tone: toneOf(difference_ns),
      }))}
    />
  );
}

const Titled = ({ title, bars }: { title: string; bars: readonly Bar[] }) => (
  <div>
    <h4 class="why-note">{title}</h4>
    <Bars label={title} bars={bars} />
  </div>
);

type LinksProps = ViewProps & { payload: StepDifferencePayload; ownStep: number };

function Links({ payload, ownStep, ...props }: LinksProps) {
  const { median } = payload;
  const links = median && linksOf({ ...payload, median }, props);
  const alone = onlyStep(props.steps) === ownStep;
  return (
    <p class="wrap">
      {links ? (
        <>
          <a href={links.timeline}>Both steps on one timeline</a>
          <a href={links.diff}>Compare them</a>
        </>
      ) : null}
      {ownStep < 0 ? null : (
        <Button kind="quiet" onClick={() => props.setSteps(alone ? ALL_STEPS : onlyOne(ownStep))}>
          {alone ? "All steps again" : "Only this step everywhere"}
        </Button>
      )}
    </p>
  );
}
