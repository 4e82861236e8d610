import { otherSide, runsStore } from "../state/runs";
import type { ViewProps } from "../state/view";
import { apart } from "./run_options";

/** While two recordings are compared: of which of them what follows is. */
export function Alone({ what, selection, params, hrefOf }: ViewProps & { what: string }) {
  const { payload } = runsStore.get();
  const other = otherSide(payload, params);
  return other ? (
    <p class="shown-of" role="note">
      {what} of {apart(payload, selection, other.selection) || "the steps chosen above"} alone.{" "}
      <a href={hrefOf("diff")}>What changed</a>
    </p>
  ) : null;
}
