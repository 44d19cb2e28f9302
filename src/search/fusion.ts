/** What each arm of the search gave, by slot; 0 where an arm did not find the entry. */
export interface Arms {
  readonly lexical: Float64Array
}

/** The final scores, by slot. With one arm they are its own; a dense arm is one more member to weigh here. */
export function fuse(arms: Arms): Float64Array {
  return arms.lexical
}
