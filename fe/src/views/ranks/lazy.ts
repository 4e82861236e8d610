/** What comes when all ranks of a run are first looked at, or chosen from: one file, which compresses better than several. */

export { Picker } from "./picker";
export { AllRanks } from "./view";
