/** One function in the middle: what leads to it above, what it calls below, wherever it is called. */

import { useMemo, useState } from "preact/hooks";
import type { FlamePayload, FlameTable } from "../../api/types.gen";
import type { ViewProps } from "../../state/view";
import { Flame, Grid, layOutFlame, type Sort } from "../../widgets";
import { columnsOf } from "../columns";
import { searchParams } from "../grid_params";
import { functionsOf, plainName, sandwichOf } from "./flame_model";
import { kindsOf, type Metric, valuesOf } from "./model";
import { frameLines } from "./parts";

type SandwichProps = Pick<ViewProps, "params" | "setParam" | "hrefOf"> & {
  payload: Pick<FlamePayload, "rows" | "has_device">;
  /** Where the links of its functions lead. */
  view?: "module" | "trace";
  height?: number;
  device: string;
  metric: Metric;
  layers: boolean;
};

const column = columnsOf("flame");

export function SandwichOf(props: SandwichProps) {
  const { payload, metric, layers, params, setParam, hrefOf } = props;
  const { view = "module", height = 460 } = props;
  const [sort, setSort] = useState<Sort | null>({ key: "own", descending: true });
  const functions = useMemo(
    () => functionsOf(payload.rows, metric, layers),
    [payload, metric, layers],
  );
  const names = useMemo(() => functions.map(({ name }) => name), [functions]);
  const focus = names.find((name) => name === params.focus) ?? names[0] ?? "";
  const columns = useMemo(
    () => [
      column("frame", "Function", "code", 270, names, {
        href: (row) => hrefOf(view, { ...params, focus: names[row] ?? "" }),
        onFollow: (row) => setParam("focus", names[row] ?? null),
      }),
      column(
        "own",
        "Self",
        "time",
        110,
        functions.map(({ own }) => own),
        { bar: true },
      ),
      column(
        "function_total",
        "Total",
        "time",
        110,
        functions.map(({ total }) => total),
      ),
      column(
        "calls",
        "Calls",
        "count",
        80,
        functions.map(({ calls }) => calls),
      ),
    ],
    [functions, names, params, setParam, hrefOf, view],
  );
  const parts = useMemo(
    () => sandwichOf(payload.rows, metric, layers, focus),
    [payload, metric, layers, focus],
  );
  return (
    <div class="flame-sandwich">
      <Grid
        label="Functions"
        columns={columns}
        height={height}
        sort={sort}
        onSort={setSort}
        {...searchParams(params, setParam, "find", "find_re")}
      />
      <div>
        <Side
          {...props}
          key={`callers ${focus}`}
          title="Callers"
          focus={focus}
          rows={parts.callers}
          upward
        />
        <Side
          {...props}
          key={`callees ${focus}`}
          title="Callees"
          focus={focus}
          rows={parts.callees}
        />
      </div>
    </div>
  );
}

type SideProps = SandwichProps & {
  title: string;
  focus: string;
  rows: FlameTable;
  upward?: boolean;
};

function Side(props: SideProps) {
  const { title, focus, rows, upward = false, payload, metric, device, setParam } = props;
  const layout = useMemo(
    () => layOutFlame({ parent: rows.parent, value: valuesOf(rows, metric), order: null }),
    [rows, metric],
  );
  const kind = useMemo(() => kindsOf(rows), [rows]);
  const describe = (row: number): string[] => frameLines({ ...payload, rows }, row, device, layout);
  return (
    <>
      <h3>{title}</h3>
      <Flame
        {...{ layout, kind, upward, describe }}
        label={`${title} of ${focus}`}
        parent={rows.parent}
        name={rows.name}
        hatched={rows.backward}
        detail={(row) =>
          row <= 0 ? null : (
            <p class="flame-detail">
              <strong>{rows.name[row]}</strong>
              <span class="number">{describe(row).slice(1).join(" · ")}</span>
              <button
                type="button"
                class="link"
                onClick={() => setParam("focus", plainName(rows, row))}
              >
                Callers and callees
              </button>
            </p>
          )
        }
      />
    </>
  );
}
