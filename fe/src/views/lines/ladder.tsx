/** The line ladder: where the path splits by call chain, as a graph and as a table, and the source of its functions. */

import { useMemo, useState } from "preact/hooks";
import type { LineLadderTable, ShownFunction, Vocabulary } from "../../api/types.gen";
import { served } from "../../api/client";
import { GROUP_LABELS } from "../../base/groups.gen";
import { formatShare, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { Flame, layOutFlame, Panel } from "../../widgets";
import { frameText } from "../callers";
import { eventLink } from "../links";
import { Notes, viewOf } from "../loaded";
import { TableView } from "../table_view";
import { byFile, joinedText, kindsOf, rungLines, tintOf } from "./model";
import "./lines.css";

interface LadderProps extends ViewProps {
  ladder: LineLadderTable;
  vocabulary: Vocabulary;
}

export function Ladder({ ladder, vocabulary, ...view }: LadderProps) {
  return (
    <>
      <Graph {...{ ladder }} hrefOf={view.hrefOf} />
      <div class="ladder">
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

function Graph({ ladder, hrefOf }: Pick<LadderProps, "ladder" | "hrefOf">) {
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
  const link = eventLink(hrefOf, ladder.event);
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
      detail={(row) =>
        row < 0 ? null : (
          <p class="flame-detail">
            <strong>{ladder.name[row]}</strong>
            <span class="number">{rungLines(ladder, row).slice(1).join(" · ")}</span>
            {link(row) ? <a href={link(row) ?? ""}>longest</a> : null}
          </p>
        )
      }
    />
  );
}

/** Functions as they stand in the folders that the server was given. */
const Source = viewOf("source", [240], ({ payload: { functions, notes } }) => (
  <Panel title="Source with heat" term="source_heat">
    {byFile(functions).map(([file, own]) => (
      <section key={file} class="source" aria-label={file}>
        <h3>{file}</h3>
        {own.map((one) => (
          <Code key={one.first} {...one} />
        ))}
      </section>
    ))}
    <Notes notes={notes} />
  </Panel>
));

function Code({ name, first, lines, cut, path_ns, share }: ShownFunction) {
  return (
    <figure class="source-function">
      <figcaption>
        {formatTime(path_ns)} <span class="muted">{formatShare(share)}</span>
        <span class="visually-hidden"> in {name}</span>
      </figcaption>
      <span class="source-heat" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
      <ol start={first} tabIndex={0} aria-label={`${name}, from line ${first}`}>
        {lines.map((line, row) => (
          <li key={row}>
            <code>{line || " "}</code>
          </li>
        ))}
        {cut ? <li class="muted">and {cut} more</li> : null}
      </ol>
    </figure>
  );
}
