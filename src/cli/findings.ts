import { styleText } from 'node:util'
import type { ServerIssue } from '../../schemas/server.ts'
import type { Finding } from '../../schemas/trust.ts'
import { marked } from './output.ts'

const colours = { error: 'red', warning: 'yellow', info: 'cyan' } as const

export function lineOfFinding({ severity, code, field, message, suggestion }: Finding): string {
  return `${styleText(colours[severity], severity)} ${field || '/'} ${marked(message)} ${suggestion ?? ''}`
    .trimEnd()
    .concat(` (${code})`)
}

export function lineOfIssue({ severity, path, message, reference }: ServerIssue): string {
  return `${styleText(colours[severity], severity)} ${path || '/'} ${marked(message)} (${reference})`
}
