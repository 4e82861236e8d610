/** The Critical Path page: what the end of each step waited for, back to its begin. */

import type { CriticalPathPayload } from "../../api/types.gen";
import { adoptStyles } from "../../base/styles";
import { useResource } from "../../state/resource";
import { onlyStep, viewQuery, withOnly, type ViewProps } from "../../state/view";
import { Figure, Grid, Panel, StackedBars } from "../../widgets";
import { useColumns } from "../columns";
import { gridParams } from "../grid_params";
import { InShort, Loaded, MissingList, Nothing } from "../loaded";
import css from "./critical_path.css?inline";
import { barsOf, seriesOf, stepTable } from "./model";
import { pathColumns, PathParts, PathStrip } from "./parts";
import { WhatIf } from "./what_if";

adoptStyles(css);

export function CriticalPathView(props: ViewProps) {
  const resource = useResource("critical_path", viewQuery(props));
  return (
    <Loaded resource={resource} shape={[60, 160, 480]} diagnosisHref={props.hrefOf("diagnosis")}>
      {(payload) =>
        payload.parts.kind.length ? (
          <CriticalPathPage {...props} payload={payload} />
        ) : (
          <Nothing
            title="This trace has no steps"
            text="Neither host nor device work was recorded."
            missing={payload.missing}
            diagnosisHref={props.hrefOf("diagnosis")}
          />
        )
      }
    </Loaded>
  );
}

function CriticalPathPage({ payload, ...props }: ViewProps & { payload: CriticalPathPayload }) {
  const { hrefOf, params, setParam, setSteps, steps } = props;
  const columns = useColumns(() => pathColumns(payload, hrefOf), [payload]);
  const step = payload.steps.name[payload.steps.step.indexOf(payload.strip_step)];
  const several = payload.steps.step.length > 1;
  return (
    <>
      <InShort sentences={payload.headline} />
      <MissingList missing={payload.missing} />
      <Panel
        title="Critical path"
        term="critical_path"
        note={
          several
            ? `drawn: ${step ?? "the longest step"}, the longest; sums: all steps chosen`
            : step
        }
      >
        <PathStrip payload={payload} hrefOf={hrefOf} />
        <PathParts payload={payload} />
      </Panel>
      <WhatIf {...props} rows={payload.rows} />
      {several ? (
        <Panel title="By step">
          <Figure title="Critical path of each step" term="path_kind" table={stepTable(payload)}>
            <StackedBars
              label="Critical path of each step by kind"
              series={seriesOf(payload)}
              bars={barsOf(payload)}
              unit="ns"
              height={220}
              selected={onlyStep(steps)}
              onSelect={(chosen) => setSteps(withOnly(steps, chosen))}
            />
          </Figure>
        </Panel>
      ) : null}
      <Panel title="On the path" term="critical_path" flush>
        <Grid
          label="On the path"
          columns={columns}
          rowCount={payload.rows.kind.length}
          rowKey={String}
          pinned={payload.pooled > 0 ? [payload.rows.kind.length - 1] : []}
          storage="critical_path"
          empty="Nothing matches the search."
          {...gridParams(params, setParam)}
        />
      </Panel>
    </>
  );
}
