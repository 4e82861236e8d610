/** The line at the top: the places, and what they are of: run, rank, steps, and what it is compared with. */

import type { ComponentChildren } from "preact";
import { served } from "../api/client";
import type { RunsPayload, StepsPayload } from "../api/types.gen";
import { definitionOf } from "../base/definitions";
import { useMedia } from "../base/media";
import { useResource } from "../state/resource";
import { besideOf, find, otherSide } from "../state/runs";
import { ALONE, onlyStep, type Selection, type ViewId, type ViewProps } from "../state/view";
import { Menu, stepsLabel, StepSelector, Tooltip } from "../widgets";
import { countOfSteps, rowsOf, type Step } from "../views/rows";
import { apart, workerOptions } from "../views/run_options";
import { allRanksLabel, TraceSelects } from "../views/trace_selects";
import { AskField } from "./AskField";
import { later } from "./lazy_component";
import { More } from "./More";
import {
  comparedIn,
  lackOfPlace,
  type Lack,
  type Place,
  PLACES,
  type Recorded,
  type Section,
} from "./registry";

interface HeaderProps extends ViewProps {
  payload: RunsPayload | null;
  place: Place;
  section: Section;
  onSelect: (selection: ViewProps["selection"]) => void;
  onAllRanks: () => void;
  /** The steps of the chosen trace, and what there is to look at in it. */
  data: StepsPayload | null;
  recorded: Recorded | null;
  /** The section of a place that was looked at last. */
  lastOf: (place: Place) => ViewId | undefined;
  /** The link of a section, with what was chosen there before. */
  sectionHref: (view: ViewId) => string;
}

const CompareMenu = later("CompareMenu");
const NOTHING: Recorded = { ranks: 1, world: 1, steps: 2, iterations: 0, missing: [] };

/** Narrower than this, the choice is one button. */
const NARROW = "(max-width: 759px)";

/** The steps of the chosen trace, and what there is to look at. Of one that could not be imported there is nothing to ask. */
export function useRecorded(payload: RunsPayload | null, selection: Selection) {
  const { worker, span } = find(payload, selection);
  const { data } = useResource(span && span.state !== "failed" ? "steps" : null, selection);
  const recorded: Recorded | null = data && {
    ranks: besideOf(payload, selection).length,
    world: worker?.world_size ?? 1,
    steps: countOfSteps(data.steps),
    iterations: data.iterations,
    missing: data.missing,
  };
  return { data, recorded };
}

export function Header(props: HeaderProps) {
  const { payload, selection, place, section, sectionHref, data, recorded } = props;
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
        <Scope {...props} rows={rows} median={data?.median ?? -1} />
        {served ? <AskField {...props} /> : null}
        <More
          payload={payload}
          selection={selection}
          hrefOf={sectionHref}
          lit={!PLACES.includes(place)}
          ownKeys={section.id === "trace"}
        />
      </div>
      <span class="visually-hidden" role="status">
        {section.fixedSteps ? `${section.label}: ${section.fixedSteps}` : ""}
      </span>
    </header>
  );
}

interface PlaceLinkProps extends Pick<HeaderProps, "place" | "params" | "lastOf" | "sectionHref"> {
  one: Place;
  recorded: Recorded | null;
}

function PlaceLink({ one, place, recorded, params, lastOf, sectionHref }: PlaceLinkProps) {
  const { sections } = one;
  const [name = one.label, more = ""] = one.named?.(recorded ?? NOTHING) ?? [];
  const first =
    one.first?.(recorded ?? NOTHING) ??
    (sections.find(({ lack }) => recorded && !lack(recorded)) ?? sections[0])?.id ??
    "overview";
  const opens = lastOf(one) ?? first;
  const alone = sections.length === 1 || (opens === "overview" && !params.run2);
  return (
    <TipLink
      kind="place"
      term={sections[0]?.term ?? ""}
      lack={recorded && lackOfPlace(one, recorded)}
      href={sectionHref(params.run2 ? comparedIn(opens) : opens)}
      current={one === place && (alone ? "page" : "true")}
    >
      {name}
      {more ? <span class="place-more">{more}</span> : null}
    </TipLink>
  );
}

interface TipLinkProps {
  kind: "place" | "segment";
  term: string;
  lack: Lack | null;
  href: string;
  current: "page" | "true" | false;
  children: ComponentChildren;
}

/** A place or a section, with what it is; dimmed where there is nothing to see, with the reason. */
function TipLink({ kind, term, lack, href, current, children }: TipLinkProps) {
  return (
    <li>
      <Tooltip content={lack ? <LackText {...lack} /> : definitionOf(term)?.text} focusable={false}>
        <a
          class={`${kind}${lack ? " lacking" : ""}${current ? ` ${kind}-on` : ""}`}
          href={href}
          aria-current={current || undefined}
        >
          {children}
          {lack ? <span class="visually-hidden"> (not recorded)</span> : null}
        </a>
      </Tooltip>
    </li>
  );
}

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
export function Sections(
  props: Pick<HeaderProps, "recorded" | "place" | "section" | "sectionHref">,
) {
  const { recorded, place, section, sectionHref } = props;
  if (place.sections.length < 2) return null;
  return (
    <nav class="sections" aria-label={`Sections of ${place.label}`}>
      <ul class="segmented">
        {place.sections.map(({ id, label, term, lack }) => (
          <TipLink
            key={id}
            kind="segment"
            {...{ term }}
            lack={recorded && lack(recorded)}
            href={sectionHref(id)}
            current={id === section.id && "page"}
          >
            {label}
          </TipLink>
        ))}
      </ul>
    </nav>
  );
}

type ScopeProps = HeaderProps & { rows: readonly Step[]; median: number };

function Scope(props: ScopeProps) {
  const { payload, selection, section, steps, rows, median, onSelect, setSteps } = props;
  const narrow = useMedia(NARROW);
  const { run, span } = find(payload, selection);
  const all = allRanks(props);
  const choice = (
    <>
      <TraceSelects
        payload={payload}
        selection={selection}
        onSelect={onSelect}
        beside={otherSide(payload, props.params)?.selection.run}
        showLabels={narrow}
        all={all}
      />
      {run && span && rows.length ? (
        section.fixedSteps ? (
          <span class="muted steps-fixed">{section.fixedSteps}</span>
        ) : (
          <StepSelector steps={rows} value={steps} onChange={setSteps} median={median} />
        )
      ) : null}
      {span && served ? <Compare {...props} /> : null}
    </>
  );
  const other = otherName(props);
  const end = other ? <EndComparison {...props} /> : null;
  if (!narrow)
    return (
      <div class="scope">
        {choice}
        {end}
      </div>
    );
  const worker = workerOptions(run?.workers ?? []).find(({ value }) => value === selection.worker);
  const text = [
    other && `with ${other}`,
    selection.run || "No run",
    all?.chosen ? allRanksLabel(all.count) : worker?.label,
    rows.length ? stepsLabel(rows, steps) : "",
  ];
  return (
    <div class="scope">
      <Menu label="Chosen" text={text.filter(Boolean).join(" · ")} class="pick">
        {choice}
      </Menu>
      {end}
    </div>
  );
}

/** Where there are several ranks, all of them can be meant. */
function allRanks({ payload, selection, params, onAllRanks }: HeaderProps) {
  const count = besideOf(payload, selection).length;
  return count > 1 ? { count, chosen: !!params.all, onChoose: onAllRanks } : null;
}

function Compare(props: HeaderProps) {
  const { section } = props;
  const other = otherName(props);
  return (
    <div class="compare">
      <Menu
        label="Comparison"
        text={other ? `with ${other}` : "Compare with …"}
        class={other ? "pick pick-set" : "pick pick-open"}
      >
        <CompareMenu {...props} view={comparedIn(section.id)} />
      </Menu>
    </div>
  );
}

function EndComparison({ section, hrefOf }: HeaderProps) {
  return (
    <a
      class="button button-quiet button-icon"
      href={hrefOf(section.id === "diff" ? "overview" : section.id, ALONE)}
      aria-label="End the comparison"
    >
      ×
    </a>
  );
}

/** What tells the other side of a comparison from this one; empty where there is none. */
function otherName({ payload, selection, params }: HeaderProps): string {
  const other = otherSide(payload, params);
  return !other
    ? ""
    : apart(payload, other.selection, selection) ||
        (onlyStep(other.steps) === null ? "other steps" : "another step");
}
