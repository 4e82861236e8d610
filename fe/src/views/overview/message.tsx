/** The answer as a message: headline, picture of the step, and link. */

import { useRef, useState } from "preact/hooks";
import type { FindingsPayload } from "../../api/types.gen";
import { hrefOfPage, pageStore } from "../../state/location";
import { Button, copyText } from "../../widgets";

/** What of the style sheet a picture needs, because none reaches into it. */
const STYLES = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"],
  ...["font-family", "font-size", "font-weight", "text-anchor"],
];
/** Px of a picture's border, and its pixels per px. */
const BORDER = 16;
const SCALE = 2;

export function CopyMessage({ told }: { told: FindingsPayload }) {
  const [state, setState] = useState("Copy as message");
  const root = useRef<HTMLSpanElement>(null);
  const copy = async (): Promise<void> => {
    const link = hrefOfPage(pageStore.get());
    const plain = [told.headline, told.detail, link].filter(Boolean).join("\n");
    const glyph = root.current?.closest(".overview")?.querySelector(".glyph-plot > svg");
    setState((await copied(plain, told, link, glyph)) ? "Copied" : "Not copied");
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

/** With the picture where the browser takes one. */
async function copied(
  plain: string,
  { headline, detail }: FindingsPayload,
  link: string,
  glyph: Element | null | undefined,
): Promise<boolean> {
  try {
    const picture = glyph instanceof SVGSVGElement ? await pictureOf(glyph) : "";
    const html = document.createElement("div");
    const add = (name: string, text: string): HTMLElement => {
      const made = document.createElement(name);
      made.textContent = text;
      html.append(made);
      return made;
    };
    add("h3", headline);
    if (detail) add("p", detail);
    if (picture) add("img", "").setAttribute("src", picture);
    add("a", link).setAttribute("href", link);
    const blob = (text: string, type: string) => new Blob([text], { type });
    const item = new ClipboardItem({
      "text/plain": blob(plain, "text/plain"),
      "text/html": blob(html.outerHTML, "text/html"),
    });
    await navigator.clipboard.write([item]);
    return true;
  } catch {
    return copyText(plain);
  }
}

/** A PNG as an address. */
async function pictureOf(svg: SVGSVGElement): Promise<string> {
  const { width, height } = svg.getBoundingClientRect();
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [drawn, made] = [svg, copy].map((root) => [...root.querySelectorAll<SVGElement>("*")]);
  drawn?.forEach((one, place) => {
    const style = getComputedStyle(one);
    for (const name of STYLES) made?.[place]?.style.setProperty(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = (width + 2 * BORDER) * SCALE;
  canvas.height = (height + 2 * BORDER) * SCALE;
  const pen = canvas.getContext("2d");
  if (!pen) return "";
  pen.scale(SCALE, SCALE);
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--surface");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, BORDER, BORDER, width, height);
  return canvas.toDataURL();
}
