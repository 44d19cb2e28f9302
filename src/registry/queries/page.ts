/** Maximum characters of the agents of one page: every transport answers with at most 1 MiB. */
export const maxPageCharacters = 768 * 1024

/** The first agents that fit within so many characters of JSON, at least one. */
export function within<Shown extends { readonly characters: number }>(
  maxCharacters: number,
  shown: readonly Shown[],
): readonly Shown[] {
  let left = maxCharacters
  const fit = shown.findIndex(({ characters }) => {
    left -= characters
    return left < 0
  })
  return shown.slice(0, fit < 0 ? undefined : Math.max(1, fit))
}
