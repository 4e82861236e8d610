/** The Lines page: what each source line of the user's own program costs. */

import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { frameText } from "../callers";
import { gridParams } from "../grid_params";
import { InShort, Loaded, Nothing } from "../loaded";
import { TableView } from "../table_view";

export function LinesView(props: ViewProps) {
  const resource = useResource("lines", viewQuery(props));
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
