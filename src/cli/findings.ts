import { styleText } from 'node:util'
import type { Finding } from '../../schemas/trust.ts'

const colours = { error: 'red', warning: 'yellow', info: 'cyan' } as const

export function lineOfFinding({ severity, code, field, message, suggestion }: Finding): string {
  return `${styleText(colours[severity], severity)} ${field || '/'} ${message} ${suggestion ?? ''}`
    .trimEnd()
    .concat(` (${code})`)
}
