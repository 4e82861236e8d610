/** What the rest of the page may use of the timeline; everything else is its own business. */

export { GESTURES, KEYS } from "./keyboard";
export { NO_ROW_STATE } from "./props";
export type { Activity, Command, Heat, RowState, Selected, Sight, TimelineHandle, TimelineProps, TrackLane, TrackNode } from "./props";
export { Timeline } from "./Timeline";
export type * from "./types";
