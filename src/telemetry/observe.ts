import { SpanStatusCode, trace } from '@opentelemetry/api'
import { echoOf } from '../../schemas/envelope.ts'
import type { Failure } from '../../schemas/failure.ts'
import { localIssuer } from '../../schemas/identity.ts'
import { isRecord } from '../../schemas/json.ts'
import { listedActions, registryName } from '../../schemas/names.ts'
import type { RouterOptions } from '../router/call.ts'
import { type Logger, plainLines } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Traffic } from './traffic.ts'

interface Sinks {
  readonly log: Logger
  readonly metrics: Metrics
  readonly traffic: Traffic
}

/**
 * One call is one log line, one metric and one span. `isKnown` says whether (to, action) exists, so that invented
 * names do not grow the metrics without bound. Spans go to the operator's SDK.
 */
export function createObserver(
  { log, metrics, traffic }: Sinks,
  isKnown: (to: string, action: string) => boolean,
): RouterOptions['observe'] {
  const tracer = trace.getTracer('dragoman')
  const logCall = plainLines(log, 'call')
  return (envelope, id) => {
    const started = performance.now()
    const span = tracer.startSpan('dispatch')
    return ({ to, action, principal, failure }) => {
      const milliseconds = performance.now() - started
      const code = failure?.code ?? 'ok'
      const label = isKnown(to, action) ? ([to, action] as const) : (['unknown', 'unknown'] as const)
      metrics.call(...label, code, milliseconds / 1000)
      traffic.call(code, milliseconds / 1000)
      // The registry has no upstream; calls of listed agents are counted where they leave.
      if (label[0] === to && to !== registryName) traffic.upstream(to, code, milliseconds / 1000)
      if (span.isRecording()) {
        span.setAttributes({ 'dragoman.to': to, 'dragoman.action': action, 'dragoman.code': code })
        if (failure) span.setStatus({ code: SpanStatusCode.ERROR, message: code })
      }
      span.end()
      const line = {
        id,
        ...echoOf(envelope),
        to,
        action,
        ...(action === listedActions.request && requestIn(envelope)),
        code,
        ms: Math.round(milliseconds * 1000) / 1000,
        sub: principal?.subject,
        // A subject of another issuer is somebody else.
        ...(principal && principal.issuer !== localIssuer && { issuer: principal.issuer }),
      }
      if (!failure) logCall(line)
      else if (failure.code === 'internal') log.error({ ...line, err: failure.cause ?? failure }, 'call')
      else logCall({ ...line, detail: failure.message.slice(0, maxDetailLength), ...causeOf(failure) })
    }
  }
}

const maxDetailLength = 300
const maxNameLength = 128

/** What a request of MCP that was passed on asks for: its method, and the name of the tool or the prompt. */
function requestIn(envelope: unknown): { method?: string; name?: string } {
  const params = isRecord(envelope) ? envelope.params : undefined
  if (!isRecord(params) || typeof params.method !== 'string') return {}
  const method = params.method.slice(0, maxNameLength)
  const name = isRecord(params.params) ? params.params.name : undefined
  return { method, ...(typeof name === 'string' && { name: name.slice(0, maxNameLength) }) }
}

function causeOf({ cause }: Failure): { cause?: string } {
  return cause instanceof Error ? { cause: cause.message.slice(0, maxDetailLength) } : {}
}
