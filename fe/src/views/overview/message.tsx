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
    const plain = [told.headline, told.detail, link].filter(Boolean).join("\n");
    // Not every browser takes a picture.
    const done = (await copyRich(plain, link, root.current).catch(() => false)) || copyText(plain);
    setState((await done) ? "Copied" : "Not copied");
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

/** As the page has it, so that names of the trace stay text. */
async function copyRich(plain: string, link: string, button: Element | null): Promise<boolean> {
  const of = (part: string) => button?.closest(".overview")?.querySelector(part);
  const glyph = of(".glyph-plot > svg");
  const picture = glyph instanceof SVGSVGElement ? await pictureOf(glyph) : "";
  const anchor = document.createElement("a");
  anchor.href = anchor.textContent = link;
  const image = picture && `<img src="${picture}">`;
  const html = [of("h1")?.outerHTML, of(".headline-detail")?.outerHTML, image, anchor.outerHTML];
  const blob = (text: string, type: string) => new Blob([text], { type });
  await navigator.clipboard.write([
    new ClipboardItem({
      "text/plain": blob(plain, "text/plain"),
      "text/html": blob(html.join(""), "text/html"),
    }),
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
  if (!pen) return "";
  pen.fillStyle = getComputedStyle(svg).getPropertyValue("--surface");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL();
}
