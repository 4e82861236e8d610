/** The Lines page: what each source line of the user's own program costs, or of that and of packages. */

import type { LineGroup } from "../../api/types.gen";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { frameText } from "../callers";
import { Choice, chosenOf } from "../choice";
import { gridParams } from "../grid_params";
import { InShort, Loaded, Nothing } from "../loaded";
import { TableView } from "../table_view";

const GROUPS: Readonly<Record<LineGroup, string>> = { own: "Your program", package: "+ packages" };

export function LinesView(props: ViewProps) {
  const group = chosenOf(GROUPS, props.params.group);
  const resource = useResource("lines", viewQuery(props, { group }));
  return (
    <Loaded resource={resource} shape={[60, 480]}>
      {({ sentences, rows, pooled, vocabulary, missing }) => {
        if (!sentences.length)
          return (
            <Nothing
              title="This trace has no lines"
              text="No line of a program was recorded in these steps. Choose other steps."
              missing={missing}
            />
          );
        return (
          <>
            <InShort sentences={sentences} />
            <TableView
              name="lines"
              title="Lines"
              term="lines_view"
              {...{ rows, pooled, vocabulary }}
              fill
              tools={<Choice {...props} label="Lines of" labels={GROUPS} param="group" />}
              events={{ page: "lines", text: "longest", hrefOf: props.hrefOf }}
              additions={{
                line: {
                  grow: true,
                  short: rows.line.map((line) => line && frameText(line)),
                  unknown: () => "no line is known",
                },
              }}
              {...gridParams(props.params, props.setParam)}
            />
          </>
        );
      }}
    </Loaded>
  );
}
