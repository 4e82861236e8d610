/** The tour that a logdir brings along, until it is dismissed. */

import { useState } from "preact/hooks";
import { readStored, writeStored } from "../base/stored";
import { fromEntries, hrefOfPage } from "../state/location";
import { useResource } from "../state/resource";
import { Button } from "../widgets";

const KEY = "pytorch_profiler.tour";

interface TourProps {
  /** Only the places, for views that are looked at on the way. */
  brief: boolean;
}

export function Tour({ brief }: TourProps) {
  const [done, setDone] = useState(() => readStored(KEY) !== null);
  const { data } = useResource(done ? null : "tour", {});
  if (done || !data?.places.length) return null;
  const dismiss = (): void => {
    writeStored(KEY, "done");
    setDone(true);
  };
  return (
    <section class="panel tour" aria-label="Tour">
      {brief ? null : <p>{data.sentences.join(" ")}</p>}
      <ol>
        {data.places.map(({ text, link }) => (
          <li key={link}>
            <a href={hrefOfPage(fromEntries(new Map(new URLSearchParams(link))))}>{text}</a>
          </li>
        ))}
      </ol>
      <Button kind="quiet" icon="close" label="Do not show the tour again" onClick={dismiss} />
    </section>
  );
}
