/** The Critical Path page: what the end of each step waited for, back to its begin. */

import type { CriticalPathPayload } from "../../api/types.gen";
import { useResource } from "../../state/resource";
import { besideOf, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { viewQuery, type ViewProps } from "../../state/view";
import { Panel } from "../../widgets";
import { lacks } from "../missing";
import { InShort, MissingList, Nothing, viewOf } from "../loaded";
import { StepCauses } from "../steps/view";
import {
  drawnText,
  groupOf,
  GROUPS,
  rangeParams,
  rangeSetter,
  readRange,
  stepTitle,
} from "./model";
import { OnThePath, pathColumns } from "./parts";
import { RanksChoice, RanksPath } from "./ranks";
import { PathGlyphs } from "./glyphs";
import { WhatIf } from "./what_if";

export function CriticalPathView(props: ViewProps) {
  const { selection, params } = props;
  const several = useStore(runsStore, ({ payload }) => besideOf(payload, selection).length > 1);
  const all = params.ranks === "all";
  return (
    <div class="view">
      {all || several ? <RanksChoice {...props} /> : null}
      {all ? <RanksPath {...props} /> : <OwnPath {...props} />}
    </div>
  );
}

type PageProps = ViewProps & { payload: CriticalPathPayload };

const OwnPath = viewOf("critical_path", [60, 160, 480], (props: PageProps) =>
  props.payload.parts.kind.length ? (
    <CriticalPathPage {...props} />
  ) : (
    <Nothing
      title="This trace has no steps"
      text="Neither host nor device work was recorded."
      missing={props.payload.missing}
    />
  ),
);

function CriticalPathPage({ payload, ...props }: PageProps) {
  const { hrefOf, params, setParam } = props;
  const { strips } = payload;
  const range = readRange(params, strips);
  const by = groupOf(GROUPS, params.by);
  const rows = useResource(
    "critical_path/rows",
    viewQuery(props, { by: by.value, ...rangeParams(range) }),
  );
  const several = payload.steps.step.length > 1;
  const [first] = strips;
  return (
    <>
      <InShort sentences={[...payload.headline, ...payload.contrast]} />
      <MissingList missing={payload.missing} />
      <Panel
        title="Critical path"
        term="critical_path"
        note={drawnText(
          first ? stepTitle(first.name) : "",
          strips.length,
          payload.steps.step.length,
        )}
      >
        <PathGlyphs
          {...{ ...props, payload, range }}
          device={lacks(payload.missing, "device") ? "CPU" : payload.vocabulary.device}
          onRange={rangeSetter(setParam)}
          within={range ? (rows.data ?? undefined) : undefined}
        />
      </Panel>
      <WhatIf {...props} />
      <OnThePath
        {...props}
        term="critical_path"
        range={range}
        by={by}
        groups={GROUPS}
        resource={rows}
        shape={420}
        columns={(data) => pathColumns(data, by, hrefOf, payload.vocabulary)}
      />
      {several ? <StepCauses {...props} ranks="own" /> : null}
    </>
  );
}
