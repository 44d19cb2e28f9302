import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { McpCaller } from '../../src/transports/mcp/protocol-2026/protocol.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { serveMcpStdio } from '../../src/transports/mcp/stdio.ts'
import { temporaryFolder } from '../support/command.ts'
import { modernRequest } from '../support/mcp.ts'
import { hangingAction, sampleAction, sampleAgent } from '../support/router.ts'
import { stdio } from '../support/serve.ts'
import { transportOver } from '../support/transport-context.ts'

const line = (message: object) => `${JSON.stringify(message)}\n`
const call = (id: number, name: string, input: object = {}) =>
  line(modernRequest(id, 'tools/call', { name, arguments: input }))

/** The stdio transport over one agent with these actions, through pipes of the test. */
function serveOver(
  actions: ReturnType<typeof sampleAction>[],
  drain_ms = 10_000,
  caller: Partial<McpCaller> = {},
) {
  const input = new PassThrough()
  const output = new PassThrough()
  const agents = [sampleAgent('svc.box', actions)]
  const context = transportOver(agents)
  const onError = () => {}
  const service = createMcpService(context, '1', onError)
  const served = serveMcpStdio(service, { identify: () => null, ...caller }, onError, {
    input,
    output,
    drain_ms,
  }).then(() => output.end())
  const answers = text(output).then((all) =>
    all
      .split('\n')
      .filter(Boolean)
      .map((entry) => JSON.parse(entry)),
  )
  return { input, served, answers }
}

test('requests are answered after the input has ended', async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<object>()
  const slow = sampleAction('slow', {
    run() {
      started.resolve()
      return release.promise
    },
  })
  const { input, served, answers } = serveOver([slow])
  input.end(call(1, 'box_slow') + call(2, 'box_slow'))
  await started.promise
  await new Promise((resolve) => setImmediate(resolve))
  release.resolve({ done: true })
  await served
  const found = await answers
  expect(found.map(({ id }) => id).toSorted()).toEqual([1, 2])
  expect(found[0].result.structuredContent).toEqual({ done: true })
})

test('a model is told which command its user runs to store a credential, as the user types it', async () => {
  const locked = sampleAction('open', {
    run() {
      throw new Failure('upstream_failed', 'It is locked.', { hint: 'Store yours with set_credential.' })
    },
  })
  const asTyped = (words: string) => words.replace('dragoman', 'npx dragoman')
  const { input, answers } = serveOver([locked], 10_000, { asTyped })
  input.end(call(1, 'box_open'))
  const [{ result }] = await answers
  expect(JSON.parse(result.content[0].text).hint).toMatch(
    /tell the user to store it for svc\.box at a terminal: npx dragoman credentials set svc\.box$/,
  )
})

test('requests that take too long after the end are abandoned', async () => {
  const { action } = hangingAction('hang')
  const { input, served, answers } = serveOver([action], 20)
  input.end(call(1, 'box_hang'))
  await served
  expect(await answers).toEqual([])
})

test('a message that is nested too deep, and an id that is already running, are refused', async () => {
  const { action } = hangingAction('hang')
  const { input, served, answers } = serveOver([action], 20)
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  input.end(
    call(1, 'box_hang') +
      call(1, 'box_hang') +
      call(2, 'box_hang', { deep: 0 }).replace('"deep":0', `"deep":${deep}`),
  )
  await served
  expect(await answers).toMatchObject([
    { id: 1, error: { code: -32600, data: { code: 'invalid_request' } } },
    { id: 2, error: { code: -32600, data: { code: 'invalid_request' } } },
  ])
})

test('a process whose input ends with its last question answers it, and ends with 0', async () => {
  await using folder = await temporaryFolder()
  await using peer = stdio(folder.path)
  peer.process.stdin?.end(
    call(1, 'search_agents', { query: 'encyclopedia' }) + call(2, 'resolve_package', {}),
  )
  const { code, stdout } = await peer.ended
  const answers = stdout.trim().split('\n')
  expect(code).toBe(0)
  expect(answers.map((answer) => JSON.parse(answer).id).toSorted()).toEqual([1, 2])
})
