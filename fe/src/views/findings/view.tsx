/** The findings: all of them for the Overview page, and those that concern another view as one line above it. */

import type { ComponentChildren } from "preact";
import type { FindingsPayload, FindingView } from "../../api/types.gen";
import { useResource, useUntilComplete, type Resource } from "../../state/resource";
import { pathOfRun, runsStore } from "../../state/runs";
import { viewQuery, type ViewProps } from "../../state/view";
import { Icon } from "../../widgets";
import { Loaded } from "../loaded";
import type { Step } from "../rows";
import { countText, findingsOf, gainOfFirst, headingText, togetherText } from "./model";
import { FindingList, RankedFindings, Unsure, type Links } from "./parts";

type Place = Pick<ViewProps, "selection" | "hrefOf">;
type Chosen = Place & Pick<ViewProps, "steps">;

/** The findings of the chosen trace and steps; `alone`: of the rank whatever is known of the others. */
export function useFindings(props: Chosen, alone = false): Resource<FindingsPayload> {
  const resource = useResource("findings", viewQuery(props, alone ? { alone: "1" as const } : {}));
  useUntilComplete(resource);
  return resource;
}

const only = (step: number | null) => ({ first: step, last: step, skipCold: false });

const linksOf = ({ selection, hrefOf }: Place, { median }: FindingsPayload): Links => ({
  // The step that the saving is of, so that the same is predicted.
  simulated: ({ change, step, subject }) =>
    change && !subject ? viewQuery({ selection, steps: only(step ?? median) }, { change }) : null,
  verify: `torch-tb-profiler diff ${pathOfRun(runsStore.get().payload, selection.run)} NEXT_RECORDING`,
  timeline: ({ event, worker, span }) =>
    hrefOf("trace", { sel: String(event) }, { run: selection.run, worker, span }),
  // The step that the saving is of, so that the same is predicted there.
  whatIf: ({ change, step }) =>
    hrefOf("critical_path", { what_if: change ?? "" }, undefined, only(step ?? median)),
});

interface FindingsProps extends Place {
  resource: Resource<FindingsPayload>;
  steps: readonly Step[];
  /** The choice between kinds of steps. */
  kinds?: ComponentChildren;
}

/** What to change. */
export function Findings({ resource, steps, kinds, ...place }: FindingsProps) {
  return (
    <Loaded resource={resource} shape={[290]}>
      {(payload) => {
        const { findings, unsure, step_ns } = payload;
        return findings.length || unsure.length || step_ns !== null ? (
          <section aria-labelledby="what-to-change">
            <header class="section-head">
              <h2 id="what-to-change">What to change</h2>
              {kinds}
              {step_ns === null ? null : (
                <>
                  <span title={payload.together}>{headingText(payload)}</span>
                  <a href={place.hrefOf("critical_path", { what_if: "" })}>What if …</a>
                </>
              )}
            </header>
            <RankedFindings
              findings={findings}
              all={step_ns === null}
              links={linksOf(place, payload)}
              steps={steps.map(({ step, selected, cold, cut }) => ({
                step,
                counts: selected && !cold && !cut,
              }))}
            >
              {togetherText(payload) ? (
                <p title={payload.together}>{togetherText(payload)}</p>
              ) : null}
              <Unsure reasons={unsure} />
            </RankedFindings>
          </section>
        ) : null;
      }}
    </Loaded>
  );
}

interface FindingsStripProps extends Chosen {
  view: FindingView;
}

/** The findings that concern a view, in one line that opens; nothing where there are none. */
export function FindingsStrip({ view, ...place }: FindingsStripProps) {
  const { data, error } = useFindings(place);
  if (error) return <p class="findings-strip">The findings could not be loaded: {error.message}</p>;
  const findings = data ? findingsOf(data, view) : [];
  if (!data || !findings.length) return null;
  return (
    <details class="findings-strip">
      <summary>
        <Icon name="chevron" size={12} />
        <strong>{countText(findings.length)}</strong>
        <span class="findings-titles">
          {[...new Set(findings.map(({ action }) => action))].join(" · ")}
        </span>
        <span class="findings-gain">{gainOfFirst(findings)}</span>
      </summary>
      <FindingList findings={findings} links={linksOf(place, data)} />
    </details>
  );
}
