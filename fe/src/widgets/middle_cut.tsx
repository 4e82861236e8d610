/** Letters kept at the end of a name that is cut in the middle. */
const TAIL = 14;

/** Text that loses its middle, not its end, when it is too long. */
export function MiddleCut({ text }: { text: string }) {
  if (text.length <= TAIL * 2) return <span class="mid-head">{text}</span>;
  return (
    <span class="mid">
      <span class="mid-head">{text.slice(0, -TAIL)}</span>
      <span class="mid-tail">{text.slice(-TAIL)}</span>
    </span>
  );
}
