/** Functions as they stand in the folders that the server was given, the heat at the side of each, or of each of its lines. */

import type { ShownFunction, SourcePayload } from "../api/types.gen";
import { format, formatShare } from "../base/units";
import { Panel } from "../widgets";
import { Notes } from "./loaded";

export const SourceWithHeat = ({
  payload: { functions, notes, unit },
}: {
  payload: SourcePayload;
}) =>
  functions.length ? (
    <Panel title="Source with heat" term="source_heat">
      {functions.map((one) => (
        <figure key={`${one.file}:${one.first}`}>
          <figcaption>
            <code>{one.file}</code> {one.name} <strong>{format(one.heat, unit)}</strong>{" "}
            <span class="muted">{formatShare(one.share)}</span>
          </figcaption>
          <Lines {...one} unit={unit} />
        </figure>
      ))}
      <Notes notes={notes} />
    </Panel>
  ) : (
    <Notes notes={notes} />
  );

/** Width of all heat at the side, px. */
const SIDE = 46;

function Lines(props: ShownFunction & Pick<SourcePayload, "unit">) {
  const { name, lines, first, cut, heat, share, line_heat, unit } = props;
  return (
    <pre class="source" tabIndex={0} aria-label={`${name}, from line ${first}`}>
      {lines.map((line, row) => {
        const own = line_heat[row] ?? heat;
        const told = line_heat.length ? `${own ? format(own, unit) : ""} `.padStart(11) : "";
        return (
          <span key={row} style={{ backgroundSize: `${(SIDE * share * own) / heat}px` }}>
            {`${told}${String(first + row).padStart(4)}  ${line}\n`}
          </span>
        );
      })}
      {cut ? `      … ${cut} more` : ""}
    </pre>
  );
}
