/** The runs side by side: what each takes and shows, how it differs from the chosen one, and the way to the comparison of the two. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ExperimentsPayload } from "../../api/types.gen";
import { useResource, useAgain } from "../../state/resource";
import { runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { type Selection, sideParams, type ViewProps } from "../../state/view";
import { Badge, type Column, GridPanel, Panel, Segmented, type Sort } from "../../widgets";
import { declaredColumns, useColumns } from "../columns";
import { Loaded, Notes } from "../loaded";
import { counterpart } from "./model";

const HEIGHT = 460;

type Ranks = "own" | "all";

/** Asks what to compare with; nothing is compared before. */
export function Choose(props: ViewProps) {
  const { selection, params } = props;
  const ranks: Ranks = params.ranks === "all" ? "all" : "own";
  const resource = useResource("experiments", { ...selection, ranks });
  useAgain(resource);
  const version = useStore(runsStore, ({ payload }) => payload?.version);
  const { reload } = resource;
  const asked = useRef(version);
  useEffect(() => {
    if (asked.current !== version) reload();
    asked.current = version;
  }, [version, reload]);
  return (
    <Loaded resource={resource} shape={[110, HEIGHT]}>
      {(payload) => (
        <>
          <Sides {...props} payload={payload} />
          <Table {...props} payload={payload} ranks={ranks} />
          <Notes notes={payload.rules} />
        </>
      )}
    </Loaded>
  );
}

type PartProps = ViewProps & { payload: ExperimentsPayload };

function Sides(props: PartProps) {
  const { selection, payload } = props;
  const { suggestion, progress } = payload;
  return (
    <Panel title="What is compared" term="diff">
      <div class="diff-side">
        <span>
          <strong>{selection.run}</strong> · {selection.worker}{" "}
          <span class="muted">as chosen at the top</span>
        </span>
        {suggestion ? (
          <p>
            <a class="button button-primary" href={rowHref(props, suggestion.row)}>
              Compare with {titles(payload.rows)[suggestion.row]}
            </a>{" "}
            {suggestion.reason}
          </p>
        ) : (
          <span class="muted">
            {progress < 1
              ? "Looking for an earlier recording of this work …"
              : "No earlier recording of this work is here."}
          </span>
        )}
      </div>
    </Panel>
  );
}

/** What tells the rows apart: the run, and the worker and recording where that does not suffice; of one run without its name. */
function titles({ run, worker, span }: PartProps["payload"]["rows"]): string[] {
  const first = run.length > 1 && new Set(run).size === 1 ? 1 : 0;
  const told = [first + 1, 2, 3].map((end) =>
    run.map((name, row) => [name, worker[row], span[row]].slice(first, end).join(" · ")),
  );
  return told.find((names) => new Set(names).size === names.length) ?? run;
}

/** The first finding, and how many others there are. */
function firstOf(text: string): string {
  const [first = "", ...others] = text.split("; ");
  return others.length ? `${first} + ${others.length}` : first;
}

/** The trace of a row; of several workers the one that goes with the chosen one. */
function traceOf({ payload: { rows }, params, selection }: PartProps, row: number): Selection {
  const run = rows.run[row] ?? "";
  return params.ranks === "all"
    ? counterpart(runsStore.get().payload, run, selection)
    : { run, worker: rows.worker[row] ?? "", span: rows.span[row] ?? "" };
}

/** The comparison with a row. */
const rowHref = (props: PartProps, row: number): string =>
  props.hrefOf("diff", sideParams(traceOf(props, row)));

function Table(props: PartProps & { ranks: Ranks }) {
  const { payload, ranks, setParam, hrefOf } = props;
  const { rows, base, progress } = payload;
  const [sort, setSort] = useState<Sort | null>({ key: "recorded", descending: true });
  const columns = useColumns((): Column[] => {
    const [name, ...others] = declaredColumns("experiments", rows, {
      run: {
        values: titles(rows),
        note: (row) =>
          row === base ? (
            <Badge tone="info">chosen</Badge>
          ) : rows.state[row] === "ready" ? null : (
            <Badge title={rows.message[row] ?? ""}>
              {rows.state[row] === "waiting" ? "reading …" : "failed"}
            </Badge>
          ),
      },
      changed: {
        kind: "text",
        values: rows.changed.map((value, row) =>
          rows.delta_ns[row] === null
            ? null
            : value === null
              ? "cannot tell"
              : value
                ? "yes"
                : "no",
        ),
      },
      findings: { short: rows.findings.map((text) => text && firstOf(text)) },
    });
    const link = (
      key: string,
      label: string,
      text: string,
      href: (row: number) => string,
    ): Column => {
      const leads = rows.state.map((state, row) => state === "ready" && row !== base);
      return {
        key,
        label,
        kind: "text",
        width: 84,
        values: leads.map((one) => (one ? text : null)),
        unknown: () => "",
        href: (row) => (leads[row] ? href(row) : null),
      };
    };
    return [
      ...(name ? [name] : []),
      link("compare", "Compare", "compare", (row) => rowHref(props, row)),
      ...others,
      link("as_base", "Choose", "choose", (row) =>
        hrefOf("diff", ranks === "all" ? { ranks } : {}, traceOf(props, row)),
      ),
    ];
  }, [payload]);
  return (
    <GridPanel
      label="Experiments"
      term="experiments"
      columns={columns}
      rowKey={(row) => [rows.run[row], rows.worker[row], rows.span[row]].join("\n")}
      height={HEIGHT}
      sort={sort}
      onSort={setSort}
      searchIn={["run", "device", "findings"]}
      storage="experiments"
      tools={
        <Segmented<Ranks>
          label="Ranks"
          value={ranks}
          options={[
            { value: "own", label: "this worker" },
            { value: "all", label: "median of all" },
          ]}
          onChange={(value) => setParam("ranks", value === "all" ? value : null)}
        />
      }
    >
      {progress < 1 ? (
        <p class="muted" role="status">
          Reading the runs …
        </p>
      ) : null}
    </GridPanel>
  );
}
