// Agents that fail in every way, by the first step of the path, and those who call them: a process of their own.
import { setTimeout as pause } from 'node:timers/promises'
import { serve } from '../net/support.ts'
import { faults } from '../support/faulty-agents.ts'
import { sendEnvelope } from '../support/send-envelope.ts'

interface Request {
  readonly url: string
  readonly token: string
  readonly names: readonly string[]
  readonly calls: number
  readonly every_ms: number
}

process.on('disconnect', () => process.exit())
process.on('message', async ({ url, token, names, calls, every_ms }: Request) => {
  const pending: Promise<string>[] = []
  for (let call = 0; call < calls; call++) {
    pending.push(sendEnvelope(url, token, names[call % names.length] ?? ''))
    await pause(every_ms)
  }
  await Promise.all(pending)
  process.send?.('called')
})
const faulty = await serve((request, response) => {
  request.resume()
  response.on('error', () => {})
  request.once('end', () => faults[Number(request.url?.split('/')[1])]?.[1](request, response))
})
process.send?.({ faulty: faulty.origin })
