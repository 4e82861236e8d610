import { useMemo } from "preact/hooks";
import { Timeline } from "../../timeline/Timeline";
import type { Slice, TimeRange } from "../../timeline/types";
import { useCurves, useFigures } from "./curves";
import { lookOf } from "./looks";
import { readColour, readGrouping } from "./params";
import { onPath } from "./path";
import { offsetOf } from "./recordings";
import { keepView, obey, withMark, type Stage } from "./stage";
import { treeOf } from "./tree";
import { alignmentText } from "./workers";

interface CanvasProps {
  stage: Stage;
  first: TimeRange | null;
  onSearch: () => void;
  onHelp: () => void;
}

export function Canvas({ stage, first, onSearch, onHelp }: CanvasProps) {
  const { recordings, span, choice, found } = stage;
  const grouping = readGrouping(stage.view.params.group);
  const tree = useMemo(
    () =>
      treeOf(
        recordings.map((item) => ({
          ...item,
          note: item.worker ? alignmentText(item.worker) : "",
        })),
        grouping,
      ),
    [recordings, grouping],
  );
  const curves = useCurves(recordings, stage.visible);
  const figures = useFigures(recordings, stage.visible, stage.area);
  const sources = useMemo(() => recordings.map((item) => item.source), [recordings]);
  const describe = (slice: Slice): readonly string[] => [
    lookOf(slice.look).label,
    ...onPath(stage.path.highlight[slice.source], slice, offsetOf(recordings, slice.source)),
  ];
  const none = useMemo(() => recordings.map(() => null), [recordings]);
  return (
    <Timeline
      sources={sources}
      tree={tree}
      span={span}
      initialView={first}
      boundaries={stage.boundaries}
      marks={stage.marks}
      arrows={stage.arrows}
      curves={curves}
      figures={figures}
      activity={stage.activity}
      colourBy={readColour(stage.view.params.colour)}
      selected={choice.selected}
      area={stage.area}
      hits={found.idle || stage.view.params.dim !== "1" ? none : found.hits}
      highlight={stage.path.highlight}
      hitHeat={found.idle ? null : found.heat}
      rows={stage.rows}
      onRows={stage.setRows}
      onSelect={choice.choose}
      onArea={stage.setArea}
      onMark={(range) => withMark(stage, range)}
      onCommand={(command) => obey(stage, command, { search: onSearch, help: onHelp })}
      onVisible={stage.setVisible}
      onViewSettled={(view) => keepView(stage, view)}
      describe={describe}
      handle={(handle) => {
        stage.handle.current = handle;
      }}
    />
  );
}
