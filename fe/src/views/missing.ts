/** Which lack a payload speaks of, by the keys of `views/words/texts.py`. */

import type { Missing } from "../api/types.gen";

export const lacks = (missing: readonly Missing[], ...keys: string[]): boolean =>
  missing.some(({ key }) => keys.includes(key));
