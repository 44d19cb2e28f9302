import { type DestinationStream, destination, type Logger, pino, symbols } from 'pino'
import { escapeHidden } from '../common/escape-hidden.ts'

export type { Logger } from 'pino'

/**
 * A JSON-lines logger on standard error (standard output belongs to data and to MCP over stdio). Of an error it writes
 * only the fields below, never other properties. Texts of others reach a terminal escaped.
 */
export function createLogger(level: string, stream: DestinationStream = standardError()): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: createTimestamp(),
      serializers: { err: (fault: unknown) => describe(fault) },
    },
    { write: (line) => stream.write(escapeHidden(line)) },
  )
}

/**
 * Writes lines of one message at the level `info`, as the logger itself would: a line for each call has few fields, all
 * of them plain, and none needs a serializer.
 */
export function plainLines(
  log: Logger,
  message: string,
): (fields: Readonly<Record<string, unknown>>) => void {
  const { [symbols.streamSym]: stream, [symbols.timeSym]: time } = log as unknown as PinoParts
  const end = `,"msg":${JSON.stringify(message)}}\n`
  return (fields) => {
    if (!log.isLevelEnabled('info')) return
    stream.write(`{"level":30${time()},${JSON.stringify(fields).slice(1, -1)}${end}`)
  }
}

interface PinoParts {
  readonly [symbols.streamSym]: DestinationStream
  readonly [symbols.timeSym]: () => string
}

/** ISO 8601, formatted once a millisecond: under full load several lines share one. */
function createTimestamp(): () => string {
  let at = Number.NaN
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== at) text = `,"time":"${new Date(now).toISOString()}"`
    at = now
    return text
  }
}

interface Fault {
  readonly type: string
  readonly message: string
  readonly code?: unknown
  readonly stack?: string | undefined
  readonly cause?: Fault
}

function describe(fault: unknown, depth = 0): Fault {
  if (!(fault instanceof Error)) return { type: typeof fault, message: String(fault).slice(0, 300) }
  const { name, message, stack, cause } = fault
  return {
    type: name,
    message,
    ...('code' in fault && { code: fault.code }),
    stack,
    ...(cause !== undefined && depth < 3 && { cause: describe(cause, depth + 1) }),
  }
}

/**
 * Lines are written in batches, at the latest after a second and at the end of the process: a write for each call
 * is expensive. They are buffered as bytes, since growing text is copied whole for each line.
 */
function standardError(): DestinationStream {
  const stream = destination({
    fd: 2,
    sync: false,
    minLength: 32_768,
    maxWrite: 65_536,
    periodicFlush: 1000,
    contentMode: 'buffer',
  })
  return { write: (line) => void stream.write(Buffer.from(line) as unknown as string) }
}
