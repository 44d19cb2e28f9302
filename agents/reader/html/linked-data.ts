const largest = 256 * 1024
const deepest = 32

/** True for JSON-LD small and shallow enough to be walked by recursive readers. Does not parse it. */
export function isTameLinkedData(json: string): boolean {
  if (json.length > largest) return false
  let depth = 0
  let inString = false
  for (let index = 0; index < json.length; index++) {
    const character = json[index]
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') {
      if (++depth > deepest) return false
    } else if (character === '}' || character === ']') depth--
  }
  return true
}
