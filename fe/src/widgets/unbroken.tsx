import type { ComponentChildren } from "preact";

/** A number with its unit, as units.py prints them. */
const QUANTITY = /(\d[\d.]* (?:[pnµm]?s|[kKMGTPE]?i?(?:B|FLOP)(?:\/s)?|%)(?!\w))/;

/** A sentence: no line ends between a number and its unit. Its letters stay as they are, so that it is found and copied as it reads. */
export const unbroken = (text: string): ComponentChildren =>
  text
    .split(QUANTITY)
    .map((part, place) => (place % 2 ? <span class="unbroken">{part}</span> : part));
