/** Annotated ranges by name: what the program itself calls its parts. */

import type { RangesPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Grid, Panel } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { timelineColumns } from "../links";
import { Loaded, Nothing } from "../loaded";

interface RangesProps extends ViewProps {
  /** Whether nothing else is on the page. */
  alone: boolean;
}

export function RangesPanel({ alone, ...props }: RangesProps) {
  const resource = useResource("ranges", viewQuery(props));
  return (
    <Loaded resource={resource} shape={[240]}>
      {(payload) =>
        payload.rows.name.length ? (
          <Ranges {...props} payload={payload} alone={alone} />
        ) : alone ? (
          <Nothing
            title="No annotated range in the selected steps"
            text="Mark parts of the program with torch.profiler.record_function."
            missing={[]}
          />
        ) : null
      }
    </Loaded>
  );
}

function Ranges({ payload, hrefOf, alone }: RangesProps & { payload: RangesPayload }) {
  const { rows, vocabulary, pooled } = payload;
  const columns = useColumns(
    () => [
      ...declaredColumns("ranges", rows, {}, vocabulary),
      ...timelineColumns("range", 84, "longest", rows.event, hrefOf),
    ],
    [payload],
  );
  return (
    <Panel
      title="Ranges"
      term="ranges"
      note={pooled ? `the last row sums up ${formatCount(pooled)} more` : null}
      flush={alone ? "fill" : true}
    >
      <Grid
        label="Ranges"
        columns={columns}
        rowCount={rows.name.length}
        pinned={pooled ? [rows.name.length - 1] : []}
        storage="ranges"
        {...(alone ? {} : { height: 360 })}
        empty="No range matches the search."
      />
    </Panel>
  );
}
