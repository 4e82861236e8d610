/** The overview of a run: all of its workers at once. */

import type { OverviewRanksPayload } from "../../api/types.gen";
import { useResource, useUntilComplete } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Progress } from "../../widgets";
import { InShort, Loaded, Notes } from "../loaded";
import { Groups, Outliers, Spreads } from "./parts";

export function AllRanks(props: ViewProps) {
  const resource = useResource("overview/ranks", viewQuery(props));
  useUntilComplete(resource);
  return (
    <Loaded resource={resource} shape={[60, 240, 320, 200]}>
      {(payload) => <AllRanksPage {...props} payload={payload} />}
    </Loaded>
  );
}

function AllRanksPage({ payload, ...props }: ViewProps & { payload: OverviewRanksPayload }) {
  const { workers, spreads, groups, progress } = payload;
  const { run } = props.selection;
  const hrefOf = (at: number): string => {
    const { worker: name = "", span = "" } = workers[at] ?? {};
    return props.hrefOf("overview", {}, { run, worker: name, span });
  };
  return (
    <>
      {progress < 1 ? (
        <Progress value={progress} label="Reading the workers" detail={payload.coverage} />
      ) : null}
      <InShort sentences={payload.headline} />
      <Notes notes={payload.notes} />
      {spreads.length ? <Spreads payload={payload} hrefOf={hrefOf} /> : null}
      <Outliers payload={payload} hrefOf={hrefOf} />
      {groups.some((group) => group.workers.length > 1) ? (
        <Groups payload={payload} hrefOf={hrefOf} />
      ) : null}
      {spreads.length ? <Notes notes={payload.rules} /> : null}
    </>
  );
}
