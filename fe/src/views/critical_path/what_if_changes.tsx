/** One change as a row with its parameters, and the form that adds another one. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ChangeParameter, DeclaredChange } from "../../api/types.gen";
import { useId } from "../../base/id";
import { formatShare, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { Button, Checkbox, Select, Tooltip } from "../../widgets";
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

interface ChangeRowProps {
  /** As it is chosen; null: not chosen. */
  change: Change | null;
  declared: DeclaredChange | null;
  words: string;
  /** What it saves alone, as in `usual`; null: not known. */
  saved: { time: number; share: number } | null;
  usual: Change | null;
  onChange: (change: Change | null) => void;
}

export function ChangeRow({ change, declared, words, saved, usual, onChange }: ChangeRowProps) {
  const asUsual = !change || (usual !== null && changeText(change) === changeText(usual));
  const title = change && declared ? wordsOf(change, declared) : words || change?.name;
  return (
    <li>
      <div class="what-if-row">
        <Checkbox
          label={<span title={title}>{title}</span>}
          checked={change !== null}
          onChange={(on) => onChange(on ? usual : null)}
        />
        {saved && asUsual ? (
          <span class="what-if-saved">
            <span class="number">{formatTime(saved.time)}</span>
            <span class="number muted">{formatShare(saved.share)}</span>
            <span class="what-if-bar" aria-hidden="true">
              <span style={{ width: `${Math.min(100, 100 * saved.share)}%` }} />
            </span>
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

function Parameter({ parameter, selects, value, onChange }: ParameterProps) {
  const { name, default: usual, about, values } = parameter;
  if (name === "factor")
    return (
      <Slider
        label="Time ×"
        hint={about}
        value={Number(value)}
        least={0}
        most={2}
        step={0.05}
        text={(number) => `× ${number}`}
        onChange={(number) => onChange(String(number))}
      />
    );
  if (name === "share")
    return (
      <Slider
        label="Share of the peak"
        hint={about}
        value={Number(value)}
        least={0.1}
        most={1}
        step={0.05}
        text={formatShare}
        onChange={(number) => onChange(String(number))}
      />
    );
  if (values.length)
    return <Select label="Kind" value={value} options={kindsOf(values)} onChange={onChange} />;
  const selector = SELECTOR_OPTIONS.find((option) => option.value === name)?.label ?? name;
  const label = selects
    ? selector
    : name === "operator"
      ? "Only operators named"
      : "Only calls named";
  return (
    <NameField
      label={label}
      hint={about}
      value={value}
      names={[]}
      onCommit={(text) => onChange(text || usual || value)}
    />
  );
}

const kindsOf = (values: readonly string[]) =>
  values.map((value) => ({ value, label: labelOf(value) }));

/** Pause after the last move of a slider before it counts, ms. */
const SETTLE = 150;

interface SliderProps {
  label: string;
  hint: string;
  value: number;
  least: number;
  most: number;
  step: number;
  text: (value: number) => string;
  onChange: (value: number) => void;
}

function Slider({ label, hint, value, least, most, step, text, onChange }: SliderProps) {
  const id = useId("slider");
  const [draft, setDraft] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setDraft(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const settle = (next: number, pause: number): void => {
    setDraft(next);
    clearTimeout(timer.current);
    if (next !== value) timer.current = setTimeout(() => onChange(next), pause);
  };
  return (
    <div class="field what-if-slider">
      <Tooltip content={hint} focusable={false}>
        <label for={id}>{label}</label>
      </Tooltip>
      <input
        id={id}
        type="range"
        min={least}
        max={Math.max(most, value)}
        step={step}
        value={draft}
        aria-valuetext={text(draft)}
        onInput={(event) => settle(event.currentTarget.valueAsNumber, SETTLE)}
        onChange={(event) => settle(event.currentTarget.valueAsNumber, 0)}
      />
      <output for={id} class="number">
        {text(draft)}
      </output>
    </div>
  );
}

interface NameFieldProps {
  label: string;
  hint: string;
  value: string;
  names: readonly string[];
  /** With each key. */
  onInput?: (text: string) => void;
  /** With Enter, and when the field is left. */
  onCommit?: (text: string) => void;
}

function NameField({ label, hint, value, names, onInput, onCommit }: NameFieldProps) {
  const id = useId("name");
  return (
    <div class="field what-if-name">
      <Tooltip content={hint} focusable={false}>
        <label for={id}>{label}</label>
      </Tooltip>
      <input
        id={id}
        type="text"
        class="text-input"
        spellcheck={false}
        autocomplete="off"
        value={value}
        list={names.length ? `${id}-names` : undefined}
        onInput={(event) => onInput?.(event.currentTarget.value)}
        onChange={(event) => onCommit?.(event.currentTarget.value)}
      />
      {names.length ? (
        <datalist id={`${id}-names`}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      ) : null}
    </div>
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
    used ? viewQuery(view, { by: "place" }) : null,
  );
  const declared = catalogue.find((change) => change.name === picked) ?? catalogue[0];
  if (!declared) return null;
  const about = (key: string): ChangeParameter | undefined =>
    declared.parameters.find((parameter) => parameter.name === key);
  const kinds = about(selector)?.values ?? [];
  const chosen = kinds.length ? name || (kinds[0] ?? "") : name.trim();
  const add = (): void => {
    const selected: [string, string][] = declared.selects ? [[selector, chosen]] : [];
    const values = Object.fromEntries([...defaultsOf(declared), ...selected]);
    onAdd({ name: declared.name, values });
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
        options={catalogue.map((change) => ({ value: change.name, label: wordsOf(null, change) }))}
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
              hint={about(selector)?.about ?? ""}
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
