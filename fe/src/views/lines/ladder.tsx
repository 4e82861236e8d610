/** The line ladder: where the path splits by call chain, as a graph and as a table, and the source of its functions. */

import { useMemo, useState } from "preact/hooks";
import type { LineLadderTable, Vocabulary } from "../../api/types.gen";
import { served } from "../../api/client";
import { GROUP_LABELS } from "../../base/groups.gen";
import { formatShare, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { Flame, layOutFlame, Panel } from "../../widgets";
import { frameText } from "../callers";
import { Notes, viewOf } from "../loaded";
import { kindsOf } from "../module/model";
import { TableView } from "../table_view";
import { joinedText, numbered, rungLines, tintOf } from "./model";

interface LadderProps extends ViewProps {
  ladder: LineLadderTable;
  vocabulary: Vocabulary;
}

export function Ladder({ ladder, vocabulary, ...view }: LadderProps) {
  return (
    <>
      <Graph ladder={ladder} />
      <div class="chart-grid ladder">
        <TableView
          name="line_ladder"
          title="Rungs"
          term="rung"
          {...{ rows: ladder, vocabulary }}
          tree={ladder.parent}
          events={{ page: "lines", text: "longest", hrefOf: view.hrefOf }}
          additions={{
            name: {
              grow: true,
              short: ladder.name.map(frameText),
              note: (row) => <span class="muted">{joinedText(ladder, row)}</span>,
            },
            group: { values: ladder.group.map((group) => GROUP_LABELS[group ?? ""] ?? null) },
          }}
        />
        {served ? <Source {...view} /> : null}
      </div>
    </>
  );
}

function Graph({ ladder }: Pick<LadderProps, "ladder">) {
  const [zoom, setZoom] = useState({ ladder, at: -1 });
  const drawn = useMemo(
    () => ({
      layout: layOutFlame({ parent: ladder.parent, value: ladder.path_ns, order: null }),
      name: ladder.name.map(
        (name, row) => `${frameText(name)}  ${formatTime(ladder.path_ns[row])}`,
      ),
      kind: kindsOf(ladder),
      tint: tintOf(ladder),
    }),
    [ladder],
  );
  return (
    <Flame
      label="Ladder"
      {...drawn}
      parent={ladder.parent}
      hatched={[]}
      found={null}
      zoom={zoom.ladder === ladder ? zoom.at : -1}
      onZoom={(at) => setZoom({ ladder, at })}
      describe={(row) => rungLines(ladder, row)}
      detail={() => null}
    />
  );
}

/** Functions as they stand in the folders that the server was given, the heat at the side of each. */
const Source = viewOf("source", [240], ({ payload: { functions, notes } }) =>
  notes.length ? (
    <Panel title="Source with heat" term="source_heat">
      {functions.map(({ file, name, first, lines, cut, path_ns, share }) => (
        <figure key={`${file}:${first}`}>
          <figcaption>
            <code>{`${file}:${first}`}</code> {name} <strong>{formatTime(path_ns)}</strong>{" "}
            <span class="muted">{formatShare(share)}</span>
          </figcaption>
          <pre
            class="source"
            tabIndex={0}
            aria-label={`${name}, from line ${first}`}
            style={{ borderLeftWidth: `${2 + 46 * share}px` }}
          >
            {numbered(lines, first, cut)}
          </pre>
        </figure>
      ))}
      <Notes notes={notes} />
    </Panel>
  ) : null,
);
