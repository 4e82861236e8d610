/** The process groups: what each moves, how near that comes to the link, and who sends how much to whom. */

import { useMemo } from "preact/hooks";
import type { ProcessGroupsPayload } from "../../api/types.gen";
import { formatCount } from "../../base/units";
import { useResource, useUntilComplete } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { Card, Figure, Grid, HeatMap, Panel } from "../../widgets";
import { declaredColumns } from "../columns";
import { Loaded, Notes } from "../loaded";

const HEIGHT = 320;

export function ProcessGroups(props: ViewProps) {
  const resource = useResource("distributed/groups", props.selection);
  useUntilComplete(resource);
  return (
    <Loaded resource={resource} shape={[200, 300]}>
      {(payload) => <Groups payload={payload} />}
    </Loaded>
  );
}

function Groups({ payload }: { payload: ProcessGroupsPayload }) {
  const { groups, names, notes } = payload;
  const columns = useMemo(() => declaredColumns("process_groups", groups), [groups]);
  if (!groups.calls.length) return null;
  return (
    <>
      <Panel title="Process groups" term="distributed_groups" flush>
        <Grid
          label="Process groups"
          columns={columns}
          rowCount={groups.calls.length}
          height={HEIGHT}
          storage="distributed-groups"
        />
      </Panel>
      {names.length > 1 ? <Matrix payload={payload} /> : null}
      <Notes notes={notes} />
    </>
  );
}

function Matrix({ payload }: { payload: ProcessGroupsPayload }) {
  const { names, sent_bytes, side, together, rule } = payload;
  const order = useMemo(() => [...names.keys()], [names]);
  const columns = useMemo(
    () => (side === "rank" ? names.map((name) => name.replace(/^rank /, "")) : names),
    [names, side],
  );
  const each = { rank: "Ranks", node: "Nodes", ranks: `Each ${formatCount(together)} ranks` }[side];
  return (
    <Card>
      <Figure
        title="Who sends how much to whom"
        term="distributed_matrix"
        note={`${each}: from row to column`}
        table={{
          columns: [
            { label: "From" },
            ...names.map((name) => ({ label: `to ${name}`, unit: "bytes" as const })),
          ],
          rows: names.map((name, row) => [name, ...(sent_bytes[row] ?? [])]),
        }}
      >
        <HeatMap
          label="Bytes from each to each"
          rows={names}
          columns={columns}
          columnWord="to"
          values={sent_bytes}
          unit="bytes"
          without="itself"
          order={order}
          fit
        />
        <p class="heat-rule">{rule}</p>
      </Figure>
    </Card>
  );
}
