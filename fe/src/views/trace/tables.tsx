import { useMemo, useState } from "preact/hooks";
import { Button } from "../../widgets";
import {
  Drawer,
  Hits,
  readTable,
  SourceChoice,
  sourcesOf,
  Statistics,
  stretchText,
  type TableName,
} from "./drawer";
import { writeEvent, writeView } from "./params";
import { useDebounced } from "./search";
import type { Stage } from "./stage";

/** Of the drawer's height: its head, and the tools and the margins of the table. */
const AROUND_TABLE = 100;
/** Pause before the figures of a moved view are asked for, ms. */
const REST_MS = 300;

export function Tables({ stage, height }: { stage: Stage; height: number }) {
  const { area, found, setParam, view } = stage;
  const wanted = readTable(view.params.table);
  const table = (wanted === "area" && !area) || (wanted === "hits" && found.idle) ? null : wanted;
  if (!table) return null;
  return (
    <Drawer
      table={table}
      height={height}
      hasArea={area !== null}
      hasHits={!found.idle}
      onTable={(next) => setParam("table", next)}
      actions={<Actions stage={stage} table={table} />}
    >
      {table === "hits" ? (
        <HitsTable stage={stage} height={height - AROUND_TABLE} />
      ) : (
        <Figures stage={stage} table={table} height={height - AROUND_TABLE} />
      )}
    </Drawer>
  );
}

function Actions({ stage, table }: { stage: Stage; table: TableName }) {
  const { area, sight, span, handle } = stage;
  const wanted = table === "area" ? area : table === "view" ? (sight?.view ?? null) : null;
  // The figures are those of what was recorded, not of the ground around it.
  const range = wanted && { t0: Math.max(wanted.t0, span.t0), t1: Math.min(wanted.t1, span.t1) };
  return (
    <div class="drawer-actions">
      {range && range.t1 > range.t0 ? (
        <span class="muted number">{stretchText(range, span.t0)}</span>
      ) : null}
      {table === "area" && area ? (
        <>
          <Button kind="quiet" icon="fit" onClick={() => handle.current?.zoomTo(area)}>
            Zoom to area
          </Button>
          <Button kind="quiet" icon="close" onClick={() => stage.setArea(null)}>
            Clear area
          </Button>
        </>
      ) : null}
    </div>
  );
}

function Figures({
  stage,
  table,
  height,
}: {
  stage: Stage;
  table: "area" | "view";
  height: number;
}) {
  const { area, sight, recordings, choice, main, view } = stage;
  const [chosen, setChosen] = useState<number | null>(null);
  const touched = useMemo(
    () => (table === "area" ? sourcesOf(area) : recordings.map((_, place) => place)),
    [table, area, recordings],
  );
  const first = touched.includes(main) ? main : (touched[0] ?? main);
  const source =
    chosen !== null && (touched.length === 0 || touched.includes(chosen)) ? chosen : first;
  const seen = useDebounced(sight?.view ?? null, REST_MS) ?? sight?.view ?? stage.span;
  const hrefOfEvent = (of: number, event: number): string => {
    const { t: _, ...others } = view.params;
    return view.hrefOf("trace", {
      ...others,
      sel: writeEvent({ key: recordings[of]?.key ?? "", event }),
    });
  };
  return (
    <>
      <SourceChoice recordings={recordings} source={source} onSource={setChosen} />
      <Statistics
        label={table === "area" ? "Events of the area" : "Events in view"}
        recordings={recordings}
        source={source}
        range={table === "area" && area ? area : seen}
        lanes={table === "area" ? (area?.lanes.get(source) ?? null) : null}
        height={height - (recordings.length > 1 ? 40 : 0)}
        onEvent={choice.reach}
        hrefOfEvent={hrefOfEvent}
      />
    </>
  );
}

function HitsTable({ stage, height }: { stage: Stage; height: number }) {
  const { found, finder, view, sight } = stage;
  const at: Record<string, string> = sight ? { t: writeView(sight.view) } : {};
  return (
    <Hits
      found={found}
      height={height}
      hrefOfName={(name) => view.hrefOf("trace", { ...view.params, ...at, q: name, re: "" })}
      onName={finder.name}
    />
  );
}
