/** The controls beside minimap and ruler: which rows, how close, and the area tool. */

import { Button, Icon } from "../widgets";

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

const STEP = 2;

export function Corner(props: CornerProps) {
  const { filter, onFilter, filterResult, areaTool, onAreaTool, onZoom, onWhole, onFold } = props;
  const { measureTool, onMeasureTool } = props;
  return (
    <div class="timeline-corner">
      <div class="search timeline-filter">
        <Icon name="search" size={13} />
        <input
          type="text"
          aria-label="Filter tracks"
          placeholder="Filter tracks"
          spellcheck={false}
          autocomplete="off"
          value={filter}
          onInput={(event) => onFilter(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            onFilter("");
          }}
        />
        {filter ? <span class="timeline-filter-result">{filterResult}</span> : null}
        {filter ? (
          <Button kind="quiet" icon="close" label="Show all tracks" onClick={() => onFilter("")} />
        ) : null}
      </div>
      <div class="timeline-tools" role="group" aria-label="View">
        <Button kind="quiet" icon="minus" label="Zoom out (S)" onClick={() => onZoom(STEP)} />
        <Button kind="quiet" icon="plus" label="Zoom in (W)" onClick={() => onZoom(1 / STEP)} />
        <Button kind="quiet" icon="fit" label="Show the whole trace (0)" onClick={onWhole} />
        <Button
          kind="quiet"
          icon="area"
          label="Select an area by dragging (or hold Shift)"
          pressed={areaTool}
          onClick={() => onAreaTool(!areaTool)}
        />
        <Button
          kind="quiet"
          icon="measure"
          label="Measure between two clicks (L)"
          pressed={measureTool}
          onClick={() => onMeasureTool(!measureTool)}
        />
        <Button
          kind="quiet"
          icon="fold"
          label="Collapse all tracks"
          onClick={() => onFold(false)}
        />
        <Button kind="quiet" icon="unfold" label="Expand all tracks" onClick={() => onFold(true)} />
      </div>
    </div>
  );
}
