/** The Critical Path page: what the end of each step waited for, back to its begin. */

import type { CriticalPathPayload, PathRowsPayload } from "../../api/types.gen";
import { useResource } from "../../state/resource";
import { find, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { onlyRow, viewQuery, withRow, type ViewProps } from "../../state/view";
import { Figure, Grid, Panel, StackedBars } from "../../widgets";
import { useColumns } from "../columns";
import { gridParams } from "../grid_params";
import { InShort, Loaded, MissingList, Nothing } from "../loaded";
import {
  barsOf,
  GROUPS,
  readGroup,
  rangeQuery,
  rangeSetter,
  readRange,
  seriesOf,
  stepRowsOf,
  stepTable,
  timelineParams,
  type PathGroup,
} from "./model";
import { OnThePath, pathColumns } from "./parts";
import { RanksChoice, RanksPath } from "./ranks";
import { PathStrips } from "./strip";
import { WhatIf } from "./what_if";

export function CriticalPathView(props: ViewProps) {
  const { selection, params } = props;
  const several = useStore(
    runsStore,
    ({ payload }) => (find(payload, selection).run?.workers.length ?? 0) > 1,
  );
  const all = params.ranks === "all";
  return (
    <div class="view">
      {all || several ? <RanksChoice {...props} /> : null}
      {all ? <RanksPath {...props} /> : <OwnPath {...props} />}
    </div>
  );
}

function OwnPath(props: ViewProps) {
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
  const { strips } = payload;
  const range = readRange(params, strips);
  const by = readGroup(params.by);
  const rows = useResource("critical_path/rows", viewQuery(props, { by, ...rangeQuery(range) }));
  const setRange = rangeSetter(setParam);
  const stepRows = stepRowsOf(payload);
  const several = stepRows.length > 1;
  const [first] = strips;
  return (
    <>
      <InShort sentences={[...payload.headline, ...payload.contrast]} />
      <MissingList missing={payload.missing} />
      <Panel
        title="Critical path"
        term="critical_path"
        note={
          several && strips.length === 1
            ? `drawn: ${first?.name ?? ""}, the longest; sums: all steps chosen`
            : first?.name
        }
      >
        <PathStrips
          payload={payload}
          range={range}
          onRange={setRange}
          within={range ? (rows.data ?? undefined) : undefined}
          links={
            <a class="button button-plain" href={hrefOf("trace", timelineParams(range, strips))}>
              Show on the timeline
            </a>
          }
        />
      </Panel>
      <WhatIf {...props} />
      <OnThePath
        term="critical_path"
        range={range}
        by={by}
        groups={GROUPS}
        onGroup={(next) => setParam("by", next === "place" ? null : next)}
      >
        <Loaded resource={rows} shape={[420]} diagnosisHref={hrefOf("diagnosis")}>
          {(data) => <PathTable {...props} data={data} by={by} payload={payload} />}
        </Loaded>
      </OnThePath>
      {several ? (
        <Panel title="By step">
          <Figure title="Critical path of each step" term="path_kind" table={stepTable(payload)}>
            <StackedBars
              label="Critical path of each step by kind"
              series={seriesOf(payload)}
              bars={barsOf(payload)}
              unit="ns"
              height={220}
              selected={onlyRow(stepRows, steps)}
              onSelect={(chosen) => setSteps(withRow(steps, stepRows, chosen))}
            />
          </Figure>
        </Panel>
      ) : null}
    </>
  );
}

interface PathTableProps extends ViewProps {
  data: PathRowsPayload;
  by: PathGroup;
  payload: CriticalPathPayload;
}

function PathTable({ data, by, payload, hrefOf, params, setParam }: PathTableProps) {
  const columns = useColumns(() => pathColumns(data, by, hrefOf, payload.vocabulary), [data]);
  const count = data.rows.kind.length;
  return (
    <Grid
      label="On the path"
      columns={columns}
      rowCount={count}
      rowKey={String}
      pinned={data.pooled > 0 ? [count - 1] : []}
      storage={`critical_path_${by}`}
      empty="Nothing matches the search."
      {...gridParams(params, setParam)}
    />
  );
}
