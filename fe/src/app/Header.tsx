/** The line at the top: the places, and what they are of: run, rank, steps, and what it is compared with. */

import type { RunsPayload, StepsPayload } from "../api/types.gen";
import { definitionOf } from "../base/definitions";
import { useMedia } from "../base/media";
import { besideOf, find } from "../state/runs";
import type { ViewId, ViewProps } from "../state/view";
import { Menu, stepsLabel, StepSelector, Tooltip } from "../widgets";
import { medianStep } from "../views/against_median";
import { countOfSteps, rowsOf, type Step } from "../views/rows";
import { workerLabel, workerOptions } from "../views/run_options";
import { allRanksLabel, TraceSelects } from "../views/trace_selects";
import { later } from "./lazy_component";
import { More } from "./More";
import { type Lack, type Place, PLACES, type Recorded, type Section } from "./registry";

interface HeaderProps extends ViewProps {
  payload: RunsPayload | null;
  /** The steps of the trace, and what it lacks; null before they are known. */
  data: StepsPayload | null;
  place: Place;
  section: Section;
  onSelect: (selection: ViewProps["selection"]) => void;
  onAllRanks: () => void;
  /** The section of a place that was looked at last. */
  lastOf: (place: Place) => ViewId | undefined;
  /** The link of a section, with what was chosen there before. */
  sectionHref: (view: ViewId) => string;
}

const CompareMenu = later("CompareMenu");
const NOTHING: Recorded = { ranks: 1, steps: 2, iterations: 0, missing: [] };

/** Narrower than this, the choice is one button. */
const NARROW = "(max-width: 759px)";

export function Header(props: HeaderProps) {
  const { payload, selection, place, section, sectionHref, data } = props;
  const recorded = recordedOf(props);
  const rows = data ? rowsOf(data.steps) : [];
  return (
    <header class="top">
      <div class="top-line">
        <nav aria-label="Places" class="places">
          <ul>
            {PLACES.map((one) => (
              <PlaceLink key={one.label} {...props} one={one} recorded={recorded} />
            ))}
          </ul>
        </nav>
        <Scope {...props} rows={rows} />
        <More
          payload={payload}
          selection={selection}
          hrefOf={sectionHref}
          lit={!PLACES.includes(place)}
        />
      </div>
      <span class="visually-hidden" role="status">
        {section.fixedSteps ? `${section.label}: ${section.fixedSteps}` : ""}
      </span>
    </header>
  );
}

type Known = Pick<HeaderProps, "payload" | "selection" | "data">;

const recordedOf = ({ payload, selection, data }: Known): Recorded | null =>
  data && {
    ranks: besideOf(payload, selection).length,
    steps: countOfSteps(data.steps),
    iterations: data.iterations,
    missing: data.missing,
  };

interface PlaceLinkProps extends Pick<HeaderProps, "place" | "lastOf" | "sectionHref"> {
  one: Place;
  recorded: Recorded | null;
}

function PlaceLink({ one, place, recorded, lastOf, sectionHref }: PlaceLinkProps) {
  const lack = recorded && one.lack?.(recorded);
  const [name = one.label, more = ""] = one.named?.(recorded ?? NOTHING) ?? [];
  const first = one.first?.(recorded ?? NOTHING) ?? one.sections[0]?.id ?? "overview";
  const alone = one.sections.length === 1;
  return (
    <li>
      <Tooltip content={tipOf(lack, one.sections[0]?.term)} focusable={false}>
        <a
          class={`place${lack ? " place-off" : ""}`}
          href={sectionHref(lastOf(one) ?? first)}
          aria-current={one === place ? (alone ? "page" : "true") : undefined}
        >
          {name}
          {more ? <span class="place-more">{more}</span> : null}
          <Off lack={lack} />
        </a>
      </Tooltip>
    </li>
  );
}

type MaybeLack = Lack | null | undefined;

/** What a place or section lacks, else what it is. */
const tipOf = (lack: MaybeLack, term = "") =>
  lack ? <LackText {...lack} /> : definitionOf(term)?.text;

const Off = ({ lack }: { lack: MaybeLack }) =>
  lack ? <span class="visually-hidden"> (not recorded)</span> : null;

function LackText({ what, why, call }: Lack) {
  return (
    <>
      <p>
        Not recorded: {what}. {why}
      </p>
      {call ? <pre>{call}</pre> : null}
    </>
  );
}

/** The sections of a place: one of them is shown. */
export function Sections(props: Known & Pick<HeaderProps, "place" | "section" | "sectionHref">) {
  const { place, section, sectionHref } = props;
  const recorded = recordedOf(props);
  if (place.sections.length < 2) return null;
  return (
    <nav class="sections" aria-label={`Sections of ${place.label}`}>
      <ul class="segmented">
        {place.sections.map(({ id, short, term, lack: lackIn }) => {
          const lack = recorded && lackIn?.(recorded);
          return (
            <li key={id}>
              <Tooltip content={tipOf(lack, term)} focusable={false}>
                <a
                  class={`segment${id === section.id ? " segment-on" : ""}${lack ? " place-off" : ""}`}
                  href={sectionHref(id)}
                  aria-current={id === section.id ? "page" : undefined}
                >
                  {short}
                  <Off lack={lack} />
                </a>
              </Tooltip>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

type ScopeProps = HeaderProps & { rows: readonly Step[] };

function Scope(props: ScopeProps) {
  const { payload, selection, section, steps, rows, onSelect, setSteps } = props;
  const narrow = useMedia(NARROW);
  const { run, span } = find(payload, selection);
  const all = allRanks(props);
  const choice = (
    <>
      <TraceSelects
        payload={payload}
        selection={selection}
        onSelect={onSelect}
        showLabels={narrow}
        all={all}
      />
      {run && span && rows.length ? (
        section.fixedSteps ? (
          <span class="muted steps-fixed">{section.fixedSteps}</span>
        ) : (
          <StepSelector
            steps={rows}
            value={steps}
            onChange={setSteps}
            median={medianStep(rows, -1)}
          />
        )
      ) : null}
      {span ? <Compare {...props} /> : null}
    </>
  );
  if (!narrow) return <div class="scope">{choice}</div>;
  const worker = workerOptions(run?.workers ?? []).find(({ value }) => value === selection.worker);
  const text = [
    selection.run || "No run",
    all?.chosen ? allRanksLabel(all.count) : worker?.label,
    rows.length ? stepsLabel(rows, steps) : "",
  ];
  return (
    <div class="scope">
      <Menu label="Chosen" text={text.filter(Boolean).join(" · ")} class="pick">
        {choice}
      </Menu>
    </div>
  );
}

/** Overview shows all ranks at once, where there are several. */
function allRanks({ payload, selection, section, params, onAllRanks }: HeaderProps) {
  const count = besideOf(payload, selection).length;
  return section.id === "overview" && count > 1
    ? { count, chosen: params.of === "ranks", onChoose: onAllRanks }
    : null;
}

function Compare(props: HeaderProps) {
  const { section, params, hrefOf } = props;
  const other = section.id === "diff" ? otherName(props) : "";
  return (
    <div class="compare">
      <Menu
        label="Comparison"
        text={other ? `Compared with ${other}` : "Compare with …"}
        class={other ? "pick pick-set" : "pick pick-open"}
      >
        <CompareMenu {...props} params={params} />
      </Menu>
      {other ? (
        <a
          class="button button-quiet button-icon"
          href={hrefOf("overview")}
          aria-label="End the comparison"
        >
          ×
        </a>
      ) : null}
    </div>
  );
}

/** What tells the other side of a comparison from this one. */
function otherName({ payload, selection, params }: HeaderProps): string {
  const { run2 = "", worker2 = "", span2 = "", steps2 = "" } = params;
  if (!run2) return "";
  if (run2 !== selection.run) return run2;
  const { worker } = find(payload, { run: run2, worker: worker2, span: span2 });
  if (worker2 !== selection.worker) return worker ? workerLabel(worker) : worker2;
  if (span2 !== selection.span) return span2;
  return steps2 === "" || steps2.includes("-") ? "other steps" : "another step";
}
