/** The controls beside minimap and ruler: which rows, how close, and the area tool. */

import { Button, Icon, type IconName } from "../widgets";

interface CornerProps {
  filter: string;
  onFilter: (filter: string) => void;
  filterResult: string;
  areaTool: boolean;
  onAreaTool: (on: boolean) => void;
  measureTool: boolean;
  onMeasureTool: (on: boolean) => void;
  onZoom: (factor: number) => void;
  onWhole: () => void;
  onFold: (open: boolean) => void;
}

interface Tool {
  icon: IconName;
  label: string;
  pressed?: boolean;
  onClick: () => void;
}

const STEP = 2;

function toolsOf(props: CornerProps): readonly Tool[] {
  const { areaTool, onAreaTool, measureTool, onMeasureTool, onZoom, onWhole, onFold } = props;
  return [
    { icon: "minus", label: "Zoom out (S)", onClick: () => onZoom(STEP) },
    { icon: "plus", label: "Zoom in (W)", onClick: () => onZoom(1 / STEP) },
    { icon: "fit", label: "Show the whole trace (0)", onClick: onWhole },
    {
      icon: "area",
      label: "Select an area by dragging (or hold Shift)",
      pressed: areaTool,
      onClick: () => onAreaTool(!areaTool),
    },
    {
      icon: "measure",
      label: "Measure between two clicks (L)",
      pressed: measureTool,
      onClick: () => onMeasureTool(!measureTool),
    },
    { icon: "fold", label: "Collapse all tracks", onClick: () => onFold(false) },
    { icon: "unfold", label: "Expand all tracks", onClick: () => onFold(true) },
  ];
}

export function Corner(props: CornerProps) {
  const { filter, onFilter, filterResult } = props;
  return (
    <div class="timeline-corner">
      <div class="search timeline-filter">
        <Icon name="search" size={13} />
        <input
          type="text"
          aria-label="Filter tracks"
          placeholder="Filter tracks"
          autocomplete="off"
          value={filter}
          onInput={(event) => onFilter(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            onFilter("");
          }}
        />
        {filter ? (
          <>
            <span class="timeline-filter-result">{filterResult}</span>
            <Button
              kind="quiet"
              icon="close"
              label="Show all tracks"
              onClick={() => onFilter("")}
            />
          </>
        ) : null}
      </div>
      <div class="timeline-tools" role="group" aria-label="View">
        {toolsOf(props).map((tool) => (
          <Button key={tool.icon} kind="quiet" {...tool} />
        ))}
      </div>
    </div>
  );
}
