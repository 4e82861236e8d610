/** The answer as a message: headline, picture of the step, and link. */

import { useRef, useState } from "preact/hooks";
import type { FindingsPayload } from "../../api/types.gen";
import { hrefOfPage, pageStore } from "../../state/location";
import { Button, copyText } from "../../widgets";

/** What of the style sheet a picture needs, because none reaches into it. */
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font"];
/** Pixels of a picture per px. */
const SCALE = 2;

export function CopyMessage({ told }: { told: FindingsPayload }) {
  const [state, setState] = useState("Copy as message");
  const root = useRef<HTMLSpanElement>(null);
  const copy = async (): Promise<void> => {
    const link = hrefOfPage(pageStore.get());
    const lines = [told.headline, told.detail, link].filter(Boolean);
    const glyph = root.current?.closest(".overview")?.querySelector(".glyph-plot > svg");
    // Not every browser takes a picture.
    const done =
      (await copyRich(lines, link, glyph).catch(() => false)) || (await copyText(lines.join("\n")));
    setState(done ? "Copied" : "Not copied");
    setTimeout(() => setState("Copy as message"), 1500);
  };
  return (
    <span ref={root} class="answer-share" role="status">
      <Button kind="quiet" icon="copy" onClick={() => void copy()}>
        {state}
      </Button>
    </span>
  );
}

async function copyRich(
  lines: readonly string[],
  link: string,
  glyph: Element | null | undefined,
): Promise<boolean> {
  const message = document.createElement("div");
  for (const line of lines) {
    const made = document.createElement(line === link ? "a" : "p");
    made.textContent = line;
    if (line === link) made.setAttribute("href", link);
    message.append(made);
  }
  if (glyph instanceof SVGSVGElement) {
    const picture = document.createElement("img");
    picture.setAttribute("src", await pictureOf(glyph));
    message.lastElementChild?.before(picture);
  }
  const parts = { "text/plain": lines.join("\n"), "text/html": message.outerHTML };
  const blobs = Object.entries(parts).map(([type, text]) => [type, new Blob([text], { type })]);
  await navigator.clipboard.write([
    new ClipboardItem(Object.fromEntries(blobs) as Record<string, Blob>),
  ]);
  return true;
}

/** A PNG as an address. */
async function pictureOf(svg: SVGSVGElement): Promise<string> {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const made = copy.querySelectorAll<SVGElement>("*");
  svg.querySelectorAll("*").forEach((one, place) => {
    const style = getComputedStyle(one);
    for (const name of STYLES) made[place]?.style.setProperty(name, style.getPropertyValue(name));
  });
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * SCALE;
  canvas.height = image.height * SCALE;
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("no canvas");
  pen.fillStyle = getComputedStyle(svg).getPropertyValue("--surface");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL();
}
