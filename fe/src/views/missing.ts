/** Which lack a payload speaks of. The words are those of `views/texts.py`. */

import type { Missing } from "../api/types.gen";

const has = (missing: readonly Missing[], what: string): boolean =>
  missing.some((item) => item.what === what);

/** Kernels were counted in place of being timed. */
export const lacksTimes = (missing: readonly Missing[]): boolean =>
  has(missing, "Times of kernels");
export const lacksDevice = (missing: readonly Missing[]): boolean =>
  has(missing, "Accelerator activity") || lacksTimes(missing);
export const lacksHost = (missing: readonly Missing[]): boolean => has(missing, "Host operators");
