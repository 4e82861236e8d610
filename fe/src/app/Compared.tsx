/** A section while two recordings are compared, or while all ranks are meant: what changed, or of what it is alone. */

import type { RunsPayload } from "../api/types.gen";
import { formatCount } from "../base/units";
import { capitalised } from "../base/words";
import { useResource } from "../state/resource";
import { besideOf } from "../state/runs";
import type { ViewProps } from "../state/view";
import { Alone } from "../views/alone";
import { workerLabel } from "../views/run_options";
import { later } from "./lazy_component";
import type { Section } from "./registry";

const Changes = later("ChangesView");

export interface ShownProps {
  view: Section;
  props: ViewProps;
  payload: RunsPayload | null;
}

export function Shown({ view, props, payload }: ShownProps) {
  const { params } = props;
  const { component: Component, compared, label } = view;
  // The steps of all ranks are those of both.
  const holdsBoth =
    compared === "steps" && view.ranks === "all" && params.run2 === props.selection.run;
  if (params.run2 && compared !== null && typeof compared !== "string")
    return <Changes {...props} tables={compared} />;
  return (
    <>
      {params.run2 && compared === "steps" ? <Changes {...props} tables={[]} /> : null}
      {compared === "itself" || holdsBoth ? null : <Alone {...props} what={label} />}
      {params.all && view.ranks !== "all" && !params[view.ranks] ? (
        <OneRank {...props} view={view} payload={payload} />
      ) : null}
      <Component {...props} />
    </>
  );
}

/** Ranks that the timeline draws at first. */
const DRAWN = 16;

/** Which of all ranks is shown, why, and the way to the others. */
function OneRank(props: ViewProps & Omit<ShownProps, "props">) {
  const { selection, hrefOf, params, view, payload } = props;
  const ranks = besideOf(payload, selection);
  const { data } = useResource(ranks.length > 1 ? "distributed" : null, selection);
  const shown = ranks.find(({ name }) => name === selection.worker);
  if (ranks.length < 2 || !shown) return null;
  // Whom the verdict names; nobody before all ranks were read.
  const holds = data?.workers[data.costs[0]?.worker ?? -1];
  const isHolding = holds?.worker === shown.name;
  const several =
    view.ranks === "ranks"
      ? "all"
      : ranks
          .flatMap(({ rank }) => rank ?? [])
          .slice(0, DRAWN)
          .join();
  return (
    <p class="shown-of" role="note">
      {capitalised(workerLabel(shown))} of {formatCount(ranks.length)}:{" "}
      {isHolding ? "it holds the others back" : `${view.label} shows one at a time`}.{" "}
      {holds && !isHolding ? (
        <a href={hrefOf(view.id, params, { ...selection, worker: holds.worker, span: holds.span })}>
          Rank {holds.rank} holds the others back
        </a>
      ) : null}
      {view.ranks ? (
        <>
          {" · "}
          <a href={hrefOf(view.id, { [view.ranks]: several })}>All ranks</a>
        </>
      ) : null}
    </p>
  );
}
