import { Term } from "../widgets";

export interface Total {
  label: string;
  text: string;
  term?: string;
}

export function Totals({ parts }: { parts: readonly Total[] }) {
  return (
    <dl class="totals">
      {parts.map(({ term, label, text }) => (
        <div key={label}>
          <dt>{term ? <Term id={term}>{label}</Term> : label}</dt>
          <dd class="number">{text}</dd>
        </div>
      ))}
    </dl>
  );
}
