/** Which lack a payload speaks of, by the keys of `views/texts.py`. */

import type { Missing } from "../api/types.gen";

const has = (missing: readonly Missing[], key: string): boolean =>
  missing.some((item) => item.key === key);

/** Kernels were counted in place of being timed. */
export const lacksTimes = (missing: readonly Missing[]): boolean => has(missing, "device_times");
export const lacksDevice = (missing: readonly Missing[]): boolean =>
  has(missing, "device") || lacksTimes(missing);
export const lacksHost = (missing: readonly Missing[]): boolean => has(missing, "host");
