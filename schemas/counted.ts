/** A number with its noun: `1 tool`, `2 tools`. `noun` takes an s for its plural. */
export function counted(count: number, noun: string, shown = String(count)): string {
  return `${shown} ${noun}${count === 1 ? '' : 's'}`
}
