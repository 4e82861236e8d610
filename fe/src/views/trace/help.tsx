import { GESTURES, KEYS } from "../../timeline/keyboard";
import { Dialog } from "../../widgets";

type Lines = readonly { keys: readonly string[]; text: string }[];

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys and gestures" onClose={onClose}>
      <div class="keys">
        <Keys title="Keys" lines={KEYS} />
        <Keys title="Mouse, trackpad, fingers" lines={GESTURES} />
      </div>
      <p class="muted">
        Collapse, pin and move tracks by their names. The address bar holds the whole view: copy it
        to share what you see. “Table” lists the events in view with their figures.
      </p>
    </Dialog>
  );
}

function Keys({ title, lines }: { title: string; lines: Lines }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {lines.map(({ keys, text }) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
