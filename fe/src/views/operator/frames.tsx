import { formatCount } from "../../base/units";
import { CopyButton } from "../../widgets";
import { splitFrame } from "./model";

/** One frame: where, and which function. */
function FrameLine({ text }: { text: string }) {
  const { file, line, func } = splitFrame(text);
  if (line === null) return <li class="frame frame-plain">{func || "(no name)"}</li>;
  return (
    <li class="frame">
      <span class="frame-func">{func}</span>
      <code class="frame-place">
        {file}:{line}
      </code>
      <CopyButton text={`${file}:${line}`} label="Copy file and line" />
    </li>
  );
}

export function Frames({ frames }: { frames: readonly string[] }) {
  return (
    <div class="frames">
      <div class="frames-head">
        <span class="muted">
          {formatCount(frames.length)} {frames.length === 1 ? "frame" : "frames"}, innermost first
        </span>
        <CopyButton text={() => frames.join("\n")} label="Copy stack">
          Copy stack
        </CopyButton>
      </div>
      <ol>
        {frames.map((text, i) => (
          <FrameLine key={i} text={text} />
        ))}
      </ol>
    </div>
  );
}
