/** The Counters page. */

import type { JSX } from "preact";
import { useResource } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { viewQuery } from "../../state/view";
import { Loaded, MissingList } from "../loaded";

export function CountersView(props: ViewProps): JSX.Element {
  const resource = useResource("counters", viewQuery(props));
  return (
    <Loaded resource={resource} shape={[60, 340, 400]} diagnosisHref={props.hrefOf("diagnosis")}>
      {(payload) => <MissingList missing={payload.missing} />}
    </Loaded>
  );
}
