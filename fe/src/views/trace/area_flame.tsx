/** What called what in an area, as a flame graph. */

import { useMemo } from "preact/hooks";
import type { AreaFlamePayload, Kind } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { Button, ErrorState, Flame, layOutFlame, Skeleton } from "../../widgets";
import type { ViewProps } from "../../state/view";
import { plainName } from "../module/flame_model";
import { kindsOf, valuesOf } from "../module/model";
import { SandwichOf } from "../module/sandwich";
import type { Recording } from "./recordings";

interface AreaFlameProps {
  view: ViewProps;
  query: Recording["query"] & { t0: string; t1: string; lanes?: string };
  kind: Kind;
  height: number;
  onEvent: (event: number) => void;
}

export function AreaFlame({ query, kind, view, height, onEvent }: AreaFlameProps) {
  const { params, setParam } = view;
  const metric = kind === "device" ? "device" : "host";
  const { data, error, reload } = useResource("trace/area/flame", { ...query, kind });
  if (error)
    return <ErrorState error={error} retry={reload} title="The frames could not be loaded" />;
  if (!data) return <Skeleton height={120} label="Loading the frames" />;
  if (!data.rows)
    return (
      <p class="trace-note">
        More than {formatCount(data.most_events)} events: choose a shorter range.
      </p>
    );
  if (params.focus === undefined)
    return <Graph rows={data.rows} pooled={data.pooled} {...{ metric, onEvent, setParam }} />;
  return (
    <>
      <Button kind="quiet" onClick={() => setParam("focus", null)}>
        All frames
      </Button>
      <SandwichOf
        {...view}
        height={height}
        payload={{ rows: data.rows, has_device: metric === "device" }}
        view="trace"
        device="device"
        layers={false}
        metric={metric}
      />
    </>
  );
}

interface GraphProps extends Pick<AreaFlameProps, "onEvent">, Pick<ViewProps, "setParam"> {
  rows: NonNullable<AreaFlamePayload["rows"]>;
  pooled: number;
  metric: "device" | "host";
}

function Graph({ rows, pooled, metric, onEvent, setParam }: GraphProps) {
  const layout = useMemo(
    () => layOutFlame({ parent: rows.parent, value: valuesOf(rows, metric), order: null }),
    [rows, metric],
  );
  const kinds = useMemo(() => kindsOf(rows), [rows]);
  const describe = (row: number): string[] => {
    const width = layout.width[row] ?? 0;
    return [
      rows.name[row] ?? "",
      `${formatTime(width)}, ${formatShare(layout.total > 0 ? width / layout.total : null)}`,
      `${formatCount(rows.calls[row])} ${rows.calls[row] === 1 ? "call" : "calls"}`,
    ];
  };
  if (!layout.total) return <p class="trace-note">No events in this range.</p>;
  return (
    <div class="area-flame">
      <Flame
        label="Flame graph of the area"
        layout={layout}
        parent={rows.parent}
        name={rows.name}
        kind={kinds}
        hatched={rows.backward}
        describe={describe}
        detail={(row) => {
          const event = rows.event[row] ?? -1;
          return row < 0 ? null : (
            <p class="flame-detail">
              <strong>{rows.name[row]}</strong>
              <span class="number">{describe(row).slice(1).join(" · ")}</span>
              {event >= 0 ? (
                <Button kind="quiet" onClick={() => onEvent(event)}>
                  Longest call
                </Button>
              ) : null}
              {rows.kind[row] === "rest" ? null : (
                <Button kind="quiet" onClick={() => setParam("focus", plainName(rows, row))}>
                  Callers and callees
                </Button>
              )}
            </p>
          );
        }}
      />
      {pooled ? (
        <p class="trace-note">
          {formatCount(pooled)} frames below 1/10,000 of the time are merged into their callers.
        </p>
      ) : null}
    </div>
  );
}
