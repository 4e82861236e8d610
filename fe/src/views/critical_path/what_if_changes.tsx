/** One change as a row with its parameters, and the form that adds another one. */

import type { ComponentChildren, TargetedEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ChangeParameter, DeclaredChange } from "../../api/types.gen";
import { useId } from "../../base/id";
import { formatShare, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Button, Checkbox, Select, ShareBar, TextInput, Tooltip } from "../../widgets";
import { labelOf } from "./model";
import {
  changeText,
  defaultsOf,
  namesFor,
  SELECTOR_OPTIONS,
  wordsOf,
  type Change,
  type Selector,
} from "./what_if_model";

/** A change that is often worth trying, and what it saves alone. */
export interface Usual {
  change: Change;
  words: string;
  time: number;
  share: number;
}

interface ChangeRowProps {
  /** As it is chosen; undefined: not chosen. */
  change: Change | undefined;
  declared: DeclaredChange | undefined;
  usual: Usual | undefined;
  onChange: (change?: Change) => void;
}

export function ChangeRow({ change, declared, usual, onChange }: ChangeRowProps) {
  const title = change && declared ? wordsOf(change, declared) : (usual?.words ?? change?.name);
  return (
    <li>
      <div class="what-if-row">
        <Checkbox
          label={<span title={title}>{title}</span>}
          checked={!!change}
          onChange={(on) => onChange(on ? usual?.change : undefined)}
        />
        {usual && (!change || changeText(change) === changeText(usual.change)) ? (
          <span class="what-if-saved">
            <span class="number">{formatTime(usual.time)}</span>
            <span class="number muted">{formatShare(usual.share)}</span>
            <ShareBar size="what-if-bar" share={Math.min(1, usual.share)} />
          </span>
        ) : null}
      </div>
      {change && declared ? (
        <Parameters change={change} declared={declared} onChange={onChange} />
      ) : null}
    </li>
  );
}

interface ParametersProps {
  change: Change;
  declared: DeclaredChange;
  onChange: (change: Change) => void;
}

function Parameters({ change, declared, onChange }: ParametersProps) {
  // Of the selectors of one change only those that select something.
  const shown = declared.parameters.filter(
    ({ name, default: value }) => value || change.values[name],
  );
  if (!shown.length) return null;
  return (
    <div class="what-if-parameters">
      {shown.map((parameter) => (
        <Parameter
          key={parameter.name}
          parameter={parameter}
          selects={declared.selects}
          value={change.values[parameter.name] ?? parameter.default}
          onChange={(value) =>
            onChange({ ...change, values: { ...change.values, [parameter.name]: value } })
          }
        />
      ))}
    </div>
  );
}

interface ParameterProps {
  parameter: ChangeParameter;
  selects: boolean;
  value: string;
  onChange: (value: string) => void;
}

/** Parameters that are chosen by a slider. */
const SCALES: Readonly<Record<string, Scale>> = {
  factor: { label: "Time ×", least: 0, most: 2, text: (value) => `× ${value}` },
  share: { label: "Share of the peak", least: 0.1, most: 1, text: formatShare },
};

function Parameter({ parameter, selects, value, onChange }: ParameterProps) {
  const { name, default: usual, about, values } = parameter;
  const scale = SCALES[name];
  if (scale)
    return (
      <Slider
        {...scale}
        hint={about}
        value={Number(value)}
        onChange={(number) => onChange(String(number))}
      />
    );
  if (values.length)
    return <Select label="Kind" value={value} options={kindsOf(values)} onChange={onChange} />;
  const label = selects
    ? (SELECTOR_OPTIONS.find((option) => option.value === name)?.label ?? name)
    : `Only ${name === "operator" ? "operators" : "calls"} named`;
  return (
    <NameField
      label={label}
      hint={about}
      value={value}
      onCommit={(text) => onChange(text || usual || value)}
    />
  );
}

const kindsOf = (values: readonly string[]) =>
  values.map((value) => ({ value, label: labelOf(value) }));

/** Pause after the last move of a slider before it counts, ms. */
const SETTLE = 150;

interface LabelledProps {
  label: string;
  hint: string;
}

interface FieldProps extends LabelledProps {
  id: string;
  class: string;
  children: ComponentChildren;
}

const Field = ({ id, label, hint, class: name, children }: FieldProps) => (
  <div class={`field ${name}`}>
    <Tooltip content={hint} focusable={false}>
      <label for={id}>{label}</label>
    </Tooltip>
    {children}
  </div>
);

interface Scale {
  label: string;
  least: number;
  most: number;
  text: (value: number) => string;
}

interface SliderProps extends Scale, LabelledProps {
  value: number;
  onChange: (value: number) => void;
}

function Slider({ label, hint, value, least, most, text, onChange }: SliderProps) {
  const id = useId("slider");
  const [draft, setDraft] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setDraft(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const settle =
    (pause: number) =>
    ({ currentTarget }: TargetedEvent<HTMLInputElement>): void => {
      const next = currentTarget.valueAsNumber;
      setDraft(next);
      clearTimeout(timer.current);
      if (next !== value) timer.current = setTimeout(() => onChange(next), pause);
    };
  return (
    <Field {...{ id, label, hint }} class="what-if-slider">
      <input
        id={id}
        type="range"
        min={least}
        max={Math.max(most, value)}
        step={0.05}
        value={draft}
        aria-valuetext={text(draft)}
        onInput={settle(SETTLE)}
        onChange={settle(0)}
      />
      <output for={id} class="number">
        {text(draft)}
      </output>
    </Field>
  );
}

interface NameFieldProps extends LabelledProps {
  value: string;
  names?: readonly string[];
  onInput?: (text: string) => void;
  onCommit?: (text: string) => void;
}

function NameField({ label, hint, value, names = [], onInput, onCommit }: NameFieldProps) {
  const id = useId("name");
  return (
    <Field {...{ id, label, hint }} class="what-if-name">
      <TextInput
        {...{ id, value, onInput, onCommit }}
        list={names.length ? `${id}-names` : undefined}
      />
      {names.length ? (
        <datalist id={`${id}-names`}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      ) : null}
    </Field>
  );
}

interface AddChangeProps {
  /** What can still be added. */
  catalogue: readonly DeclaredChange[];
  view: ViewProps;
  onAdd: (change: Change) => void;
}

export function AddChange({ catalogue, view, onAdd }: AddChangeProps) {
  const [picked, setPicked] = useState("");
  const [selector, setSelector] = useState<Selector>("operator");
  const [name, setName] = useState("");
  // Names to choose from are asked for when somebody is about to choose one.
  const [used, setUsed] = useState(false);
  const { data } = useResource(
    used ? "critical_path/rows" : null,
    viewQuery(view, { by: "place" }),
  );
  const declared = catalogue.find((change) => change.name === picked) ?? catalogue[0];
  if (!declared) return null;
  const parameter = declared.parameters.find((each) => each.name === selector);
  const kinds = parameter?.values ?? [];
  const chosen = kinds.length ? name || (kinds[0] ?? "") : name.trim();
  const add = (): void => {
    const selected = declared.selects ? { [selector]: chosen } : {};
    onAdd({ name: declared.name, values: { ...defaultsOf(declared), ...selected } });
    setName("");
  };
  return (
    <form
      class="what-if-add"
      aria-label="Add a change"
      onFocusIn={() => setUsed(true)}
      onSubmit={(event) => {
        event.preventDefault();
        if (!declared.selects || chosen) add();
      }}
    >
      <Select
        label="Add"
        value={declared.name}
        options={catalogue.map((change) => ({ value: change.name, label: wordsOf({}, change) }))}
        onChange={setPicked}
      />
      {declared.selects ? (
        <>
          <Select
            label="of"
            value={selector}
            options={SELECTOR_OPTIONS}
            onChange={(next) => {
              setSelector(next as Selector);
              setName("");
            }}
          />
          {kinds.length ? (
            <Select label="called" value={chosen} options={kindsOf(kinds)} onChange={setName} />
          ) : (
            <NameField
              label="called"
              hint={parameter?.about ?? ""}
              value={name}
              names={data ? namesFor(selector, data.rows) : []}
              onInput={setName}
            />
          )}
        </>
      ) : null}
      <Button disabled={declared.selects && !chosen} onClick={add}>
        Add
      </Button>
    </form>
  );
}
