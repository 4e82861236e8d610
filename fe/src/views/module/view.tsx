/** The Module page: which modules take the time, forward and backward, and on which Python lines it is spent. */

import { useMemo } from "preact/hooks";
import type { Missing, ModulePayload } from "../../api/types.gen";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Grid, Panel, Segmented } from "../../widgets";
import { FindingsStrip } from "../findings/view";
import { gridParams } from "../grid_params";
import { InShort, Loaded, MissingList, Nothing } from "../loaded";
import { TableView } from "../table_view";
import { Totals } from "../totals";
import { useColumns } from "../columns";
import { FlamePanel } from "./flame";
import { mergeLayers, pathsOf, totalParts } from "./model";
import { classColumns, treeColumns } from "./parts";

const NOTHING: readonly Missing[] = [];
const PARTS = [
  { value: "tree", label: "Tree" },
  { value: "class", label: "By class" },
  { value: "ranges", label: "Ranges" },
  { value: "flame", label: "Flame graph" },
] as const;
type Part = (typeof PARTS)[number]["value"];

/** What the flame graph keeps in the address bar. */
const OF_FLAME = ["zoom", "flame", "find", "metric", "order", "show"];

/** One part at a time, so that it has the window's height. A link to a frame leads to the flame graph. */
const partOf = (params: Readonly<Record<string, string>>): Part =>
  PARTS.find(({ value }) => value === params.by)?.value ??
  (OF_FLAME.some((key) => params[key]) ? "flame" : "tree");

export function ModuleView(props: ViewProps) {
  const resource = useResource("module", viewQuery(props));
  const part = partOf(props.params);
  const none = resource.data !== null && !resource.data.rows.name.length;
  const flame = (
    <FlamePanel
      {...props}
      device={resource.data?.vocabulary.device ?? "device"}
      known={none ? (resource.data?.missing ?? NOTHING) : NOTHING}
    />
  );
  return (
    <>
      {resource.data ? <InShort sentences={resource.data.sentences} /> : null}
      <FindingsStrip {...props} view="module" />
      {none ? null : (
        <Segmented
          label="Show"
          value={part}
          onChange={(next) => props.setParam("by", next)}
          options={PARTS}
        />
      )}
      {none || part === "tree" || part === "class" ? (
        <Loaded resource={resource} shape={[480]}>
          {(payload) => <Modules {...props} payload={payload} flat={part === "class"} />}
        </Loaded>
      ) : null}
      {none || part === "ranges" ? <RangesPanel {...props} alone={!none} /> : null}
      {none || part === "flame" ? flame : null}
    </>
  );
}

type PageProps = ViewProps & { payload: ModulePayload; flat: boolean };

function Modules({ payload, ...props }: PageProps) {
  if (!payload.rows.name.length) {
    return (
      <Nothing
        title={payload.source ? "No module ran in the selected steps" : "This trace has no modules"}
        text="No module calls were recorded in these steps. Choose other steps."
        missing={payload.missing.filter(({ key }) => key === "modules")}
      />
    );
  }
  return (
    <>
      <MissingList missing={payload.missing} />
      <Panel title="Modules" term="module" flush="fill">
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

function ModuleTable({ payload, flat, ...props }: PageProps) {
  const { params, setParam, hrefOf } = props;
  const merged = useMemo(() => mergeLayers(payload.rows), [payload]);
  const columns = useColumns(
    () =>
      flat ? classColumns(payload, hrefOf) : treeColumns({ ...payload, rows: merged.rows }, hrefOf),
    [payload, flat],
  );
  const paths = useMemo(() => pathsOf(merged.rows), [merged]);
  return (
    <Grid
      key={flat ? "class" : "tree"}
      label={flat ? "Modules by class" : "Modules"}
      columns={columns}
      {...(flat
        ? {}
        : {
            tree: merged.rows.parent,
            rowKey: (row: number) => paths[row] ?? "",
            summary: (row: number) => merged.summary[row] ?? false,
          })}
      storage={flat ? "module-class" : "module-tree"}
      {...gridParams(params, setParam)}
    />
  );
}

interface RangesProps extends ViewProps {
  /** Whether nothing else is on the page. */
  alone: boolean;
}

/** Annotated ranges by name: what the program itself calls its parts. */
function RangesPanel({ alone, ...props }: RangesProps) {
  const resource = useResource("ranges", viewQuery(props));
  return (
    <Loaded resource={resource} shape={[240]}>
      {({ rows, vocabulary, pooled }) =>
        rows.name.length ? (
          <TableView
            {...{ rows, vocabulary, pooled }}
            name="ranges"
            title="Ranges"
            term="ranges"
            fill={alone}
            events={{ page: "range", text: "longest", hrefOf: props.hrefOf }}
            {...(alone ? {} : { height: 360 })}
            empty="No range matches the search."
          />
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
