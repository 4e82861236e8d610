/** A choice among a few, which the address bar keeps; of one there is none. */

import type { ViewProps } from "../state/view";
import { Segmented } from "../widgets";

/** What there is to choose from, as it stands in the address bar and as it is called. */
type Labels<V extends string> = Readonly<Record<V, string>>;

/** The choice of a text out of the address bar; the first one where it says nothing, or what makes no sense. */
export function chosenOf<V extends string>(labels: Labels<V>, text = ""): V {
  return (Object.hasOwn(labels, text) ? text : Object.keys(labels)[0]) as V;
}

interface ChoiceProps<V extends string> extends Pick<ViewProps, "params" | "setParam"> {
  label: string;
  showLabel?: boolean;
  labels: Labels<V>;
  /** Where the address bar keeps it; of the first one it says nothing. */
  param: string;
  /** What else of the address bar is of one choice alone. */
  resets?: readonly string[];
}

export function Choice<V extends string>(props: ChoiceProps<V>) {
  const { label, showLabel, labels, param, resets = [], params, setParam } = props;
  const values = Object.keys(labels) as V[];
  if (values.length < 2) return null;
  return (
    <Segmented<V>
      label={label}
      showLabel={showLabel}
      value={chosenOf(labels, params[param])}
      options={values.map((value) => ({ value, label: labels[value] }))}
      onChange={(next) => {
        for (const key of resets) setParam(key, null);
        setParam(param, next === values[0] ? null : next);
      }}
    />
  );
}
