/** The findings: all of them for the Overview page, and those that concern another view as one line above it. */

import type { FindingsPayload, FindingView } from "../../api/types.gen";
import { useResource, useUntilComplete, type Resource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Icon } from "../../widgets";
import { Loaded } from "../loaded";
import { countText, findingsOf, gainOfFirst } from "./model";
import { FindingList, NothingFound, RankedFindings, Unsure, type Links } from "./parts";

type Place = Pick<ViewProps, "selection" | "hrefOf">;
type Chosen = Place & Pick<ViewProps, "steps">;

/** The findings of the chosen trace and steps. */
export function useFindings(props: Chosen): Resource<FindingsPayload> {
  const resource = useResource("findings", viewQuery(props));
  useUntilComplete(resource);
  return resource;
}

const linksOf = ({ selection, hrefOf }: Place): Links => ({
  timeline: ({ event, worker, span }) =>
    hrefOf("trace", { sel: String(event) }, { run: selection.run, worker, span }),
  whatIf: (change) => hrefOf("critical_path", { what_if: change }),
});

interface FindingsProps extends Place {
  resource: Resource<FindingsPayload>;
}

export function Findings({ resource, ...place }: FindingsProps) {
  return (
    <Loaded resource={resource} shape={[200]}>
      {(payload) => (
        <>
          {payload.healthy ? (
            <NothingFound>No finding costs 2 % of a step or more.</NothingFound>
          ) : null}
          {!payload.healthy && !payload.findings.length ? (
            <p>No findings in what could be checked.</p>
          ) : null}
          <RankedFindings findings={payload.findings} links={linksOf(place)}>
            <Unsure reasons={payload.unsure} />
          </RankedFindings>
        </>
      )}
    </Loaded>
  );
}

interface FindingsStripProps extends Chosen {
  view: FindingView;
}

/** The findings that concern a view, in one line that opens; as high while they are looked for as afterwards, so that nothing jumps. */
export function FindingsStrip({ view, ...place }: FindingsStripProps) {
  const { data, error } = useFindings(place);
  if (!data) {
    return (
      <p class="findings-strip" aria-busy={error === null}>
        {error ? `The findings could not be loaded: ${error.message}` : "Looking for findings …"}
      </p>
    );
  }
  const findings = findingsOf(data, view);
  if (!findings.length) {
    return (
      <div class="findings-strip">
        <NothingFound>No findings for this view.</NothingFound>
      </div>
    );
  }
  return (
    <details class="findings-strip">
      <summary>
        <Icon name="chevron" size={12} />
        <strong>{countText(findings.length)}</strong>
        <span class="findings-titles">
          {[...new Set(findings.map((finding) => finding.title))].join(" · ")}
        </span>
        <span class="findings-gain">{gainOfFirst(findings)}</span>
      </summary>
      <FindingList findings={findings} links={linksOf(place)} />
    </details>
  );
}
