import { toAscii } from '../../../src/common/ascii.ts'
import { type ExportPlan, executionOf, type Planned } from './plan.ts'

/**
 * JSON-RPC messages, one per line, for the standard input of `dragoman mcp`; the id of a call is the number of its
 * step.
 */
export function toFrames({ session, calls }: ExportPlan): string {
  const frames = [
    {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'dragoman-playground', version: '1' },
      },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    ...calls.map((call) => ({
      jsonrpc: '2.0',
      id: call.number,
      method: 'tools/call',
      params: toolCall(call, session),
    })),
  ]
  return frames.map((frame) => `${toAscii(frame)}\n`).join('')
}

/** No tool runs with the rights of a session, so such calls go to the session itself while it exists. */
function toolCall({ as, tool, envelope }: Planned, session: string): object {
  const { to, action, params } =
    as === 'session'
      ? { to: 'svc.playground', action: 'execute', params: { session, ...executionOf(envelope) } }
      : envelope
  if (as !== 'session' && tool !== undefined) return { name: tool, arguments: params }
  return { name: 'call_agent', arguments: { agent: to, action, params } }
}
