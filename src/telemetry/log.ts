import { type DestinationStream, destination, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** A JSON-lines logger on standard error (standard output belongs to data and to MCP over stdio). */
export function createLogger(level: string, stream: DestinationStream = destination(2)): Logger {
  const redact = [
    'authorization',
    'token',
    'key',
    'secret',
    '*.authorization',
    '*.token',
    '*.key',
    '*.secret',
  ]
  return pino({ level, base: null, redact, timestamp: pino.stdTimeFunctions.isoTime }, stream)
}
