import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { linesOf } from '../../src/common/lines.ts'
import { startGateway } from '../support/gateway.ts'
import { initialize, initialized, modernHeaders, modernRequest } from '../support/mcp.ts'
import { startPair } from '../support/referee.ts'
import { hangingAction, sampleAgent } from '../support/router.ts'
import { openSocket } from '../support/socket.ts'

test('a caller who leaves aborts the action', async () => {
  const { action, started } = hangingAction('hang')
  await using pair = await startPair([sampleAgent('svc.box', [action])])
  const leave = new AbortController()
  const answer = fetch(pair.url, {
    method: 'POST',
    headers: modernHeaders('tools/call', 'box_hang'),
    body: JSON.stringify(modernRequest(1, 'tools/call', { name: 'box_hang' })),
    signal: leave.signal,
  })
  const { signal } = await started
  expect(signal.aborted).toBe(false)
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
  leave.abort()
  await expect(answer).rejects.toThrow()
  await aborted
})

test('both eras speak on one socket, whatever was cancelled before', async () => {
  await using home = await startGateway()
  await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'])
  peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } })
  peer.send(modernRequest(1, 'server/discover', {}))
  expect(await peer.answer(1)).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } })
  peer.send(initialize(2))
  expect(await peer.answer(2)).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  peer.send(initialized)
  peer.send({ jsonrpc: '2.0', id: 3, method: 'tools/list' })
  peer.send(modernRequest(4, 'tools/list', {}))
  expect((await peer.answer(3)).result).not.toHaveProperty('resultType')
  expect(await peer.answer(4)).toMatchObject({ result: { resultType: 'complete', cacheScope: 'public' } })
})

test('bytes are split into lines wherever chunks break, and a line that is too long is reported', async () => {
  const input = new PassThrough()
  const bytes = Buffer.from(`a\u00e9\r\n\n${'x'.repeat(11 * 1024 * 1024)}\nb\n`)
  for (const [start, end] of [
    [0, 2],
    [2, 5],
    [5, 6_000_000],
    [6_000_000, bytes.length],
  ])
    input.write(bytes.subarray(start, end))
  input.end('c')
  const lines: (string | undefined)[] = []
  for await (const batch of linesOf(input)) lines.push(...batch)
  expect(lines).toEqual(['a\u00e9', undefined, 'b'])
})
