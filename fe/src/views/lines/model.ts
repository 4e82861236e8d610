/** What the ladder is drawn from. Pure. */

import type { LineLadderTable } from "../../api/types.gen";
import { GROUP_LABELS } from "../../base/groups.gen";
import { formatShare, formatTime } from "../../base/units";
import type { FlameTint } from "../../widgets";
import { frameText } from "../callers";

/** Hue and saturation of groups of causes: those of their colours elsewhere. */
const COLOURS: Readonly<Record<string, readonly [hue: number, saturation: number]>> = {
  compute: [212, 60],
  copies: [198, 65],
  data_loading: [45, 80],
  communication: [25, 75],
  host_code: [218, 22],
};
const GROUPS = Object.keys(COLOURS);

export const tintOf = (ladder: LineLadderTable): FlameTint => ({
  of: ladder.group.map((group) => GROUPS.indexOf(group ?? "")),
  colours: Object.values(COLOURS),
});

/** The calls that a rung joins, in words; none of a rung of one call. */
export const joinedText = ({ joined, kind }: LineLadderTable, row: number): string => {
  const count = joined[row] ?? 0;
  const word = kind[row] === "line" ? "line" : "call";
  return count ? `+${count} ${word}${count === 1 ? "" : "s"}` : "";
};

/** What is said of a rung, its name first. */
export const rungLines = (ladder: LineLadderTable, row: number): string[] =>
  [
    frameText(ladder.name[row] ?? ""),
    `${formatTime(ladder.path_ns[row])}, ${formatShare(ladder.share[row])} of the path`,
    GROUP_LABELS[ladder.group[row] ?? ""] ?? "",
  ].filter(Boolean);
