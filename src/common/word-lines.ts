/**
 * The lines of a list such as `invoice = factura, facturas`: what stands before the sign, and the words after it. `#`
 * begins a comment.
 */
export function wordLines(content: string): (readonly [name: string, words: readonly string[]])[] {
  return content.split('\n').flatMap((line) => {
    const [name = '', words] = line.split(' = ')
    return line.startsWith('#') || words === undefined ? [] : [[name, words.split(', ')] as const]
  })
}
