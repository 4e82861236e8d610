/** The Module page: which modules take the time, forward and backward, and on which Python lines it is spent. */

import { useMemo } from "preact/hooks";
import type { Missing, ModulePayload } from "../../api/types.gen";
import { adoptStyles } from "../../base/styles";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Grid, Panel, Segmented } from "../../widgets";
import { FindingsStrip } from "../findings/view";
import { gridParams } from "../grid_params";
import { Loaded, MissingList, Nothing } from "../loaded";
import { Totals } from "../totals";
import { useColumns } from "../columns";
import { FLAME_ID, FlamePanel } from "./flame";
import { pathsOf, totalParts } from "./model";
import { classColumns, treeColumns, type ModuleLinks } from "./parts";
import { RangesPanel } from "./ranges";
import css from "./module.css?inline";

adoptStyles(css);

const TABLE_HEIGHT = 400;
const NOTHING: readonly Missing[] = [];

export function ModuleView(props: ViewProps) {
  const resource = useResource("module", viewQuery(props));
  return (
    <>
      <FindingsStrip {...props} view="module" />
      <Loaded resource={resource} shape={[480]} diagnosisHref={props.hrefOf("diagnosis")}>
        {(payload) => <Modules {...props} payload={payload} />}
      </Loaded>
      <RangesPanel {...props} />
      <FlamePanel
        {...props}
        device={resource.data?.vocabulary.device ?? "device"}
        known={resource.data?.missing ?? NOTHING}
      />
    </>
  );
}

type PageProps = ViewProps & { payload: ModulePayload };

function Modules({ payload, ...props }: PageProps) {
  if (!payload.rows.name.length) {
    return (
      <Nothing
        title={payload.source ? "No module ran in the selected steps" : "This trace has no modules"}
        text="No module calls were recorded in these steps. Choose other steps."
        missing={payload.missing.filter(({ key }) => key === "modules")}
        diagnosisHref={props.hrefOf("diagnosis")}
      />
    );
  }
  return (
    <>
      <MissingList missing={payload.missing} />
      <Panel
        title="Modules"
        term="module"
        note={payload.steps > 1 ? `sums over ${payload.steps} steps` : null}
        flush
      >
        <div class="table-notes">
          <Totals parts={totalParts(payload)} />
          {payload.notes.map((note) => (
            <p key={note} class="muted">
              {note}
            </p>
          ))}
        </div>
        <ModuleTable {...props} payload={payload} />
      </Panel>
    </>
  );
}

function ModuleTable({ payload, ...props }: PageProps) {
  const { params, setParam, hrefOf } = props;
  const flat = params.by === "class";
  const columns = useColumns(() => {
    const links: ModuleLinks = {
      timeline: (event) => hrefOf("trace", { sel: String(event) }),
      flame: (event) => hrefOf("module", { zoom: String(event) }),
      onFlame: (event) => {
        setParam("flame", null);
        setParam("zoom", String(event));
        document.getElementById(FLAME_ID)?.scrollIntoView({ block: "start" });
      },
    };
    return flat ? classColumns(payload, links) : treeColumns(payload, links);
  }, [payload, flat]);
  const paths = useMemo(() => pathsOf(payload.rows), [payload]);
  return (
    <Grid
      key={flat ? "class" : "tree"}
      label={flat ? "Modules by class" : "Modules"}
      columns={columns}
      rowCount={columns[0]?.values.length ?? 0}
      {...(flat ? {} : { tree: payload.rows.parent, rowKey: (row: number) => paths[row] ?? "" })}
      storage={flat ? "module-class" : "module-tree"}
      height={TABLE_HEIGHT}
      tools={
        <Segmented
          label="Show"
          value={flat ? "class" : "tree"}
          onChange={(next) => setParam("by", next === "class" ? "class" : null)}
          options={[
            { value: "tree", label: "Tree" },
            { value: "class", label: "By class" },
          ]}
        />
      }
      {...gridParams(params, setParam)}
    />
  );
}
