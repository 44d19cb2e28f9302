import { expect, test, vi } from 'vitest'
import { serve as serveHttp } from '../net/support.ts'
import { command, temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { run } from '../support/processes.ts'
import { serve } from '../support/serve.ts'

const weather = {
  package_name: 'com.example.weather',
  description: 'Forecasts.',
  endpoints: [{ protocol: 'mcp' as const, url: 'https://weather.example.com/mcp' }],
}

/** A way to a gateway that counts the requests, hides its streams if told to, and breaks off the first one. */
async function between(target: string, { streams }: { streams: boolean }) {
  const requests: string[] = []
  const server = await serveHttp(async (request, response) => {
    const { method = '', url = '', headers } = request
    const isStream = headers.accept === 'text/event-stream'
    requests.push(`${method} ${url.split('?')[0]}${isStream ? ' stream' : ''}`)
    if (isStream && !streams) return response.writeHead(404).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: { accept: headers.accept ?? '*/*', 'content-type': headers['content-type'] ?? '' },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    if (isStream && requests.filter((line) => line.endsWith('stream')).length === 1) {
      const { value } = (await answer.body?.getReader().read()) ?? {}
      response.write(value)
      return response.destroy()
    }
    for await (const chunk of answer.body ?? []) response.write(chunk)
    return response.end()
  })
  return { url: server.origin, requests, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

test.each([
  ['by the stream of the gateway, which is opened again where it breaks off', true],
  ['by a page each second where there is no stream', false],
])('the registry is watched %s', async (_, streams) => {
  await using home = await startGateway()
  await using way = await between(home.url, { streams })
  await using watching = run(process.execPath, [command, 'watch', '--json'], { DRAGOMAN_URL: way.url })
  const times = (line: string) => way.requests.filter((request) => request === line).length
  const [look, stream] = ['POST /a2a/message', 'GET /public/changes stream']
  await vi.waitFor(() => expect(times(streams ? stream : look)).toBeGreaterThanOrEqual(2), 20_000)
  await list(home, weather)
  await watching.printed(/"package_name":"com\.example\.weather"/)
  expect([times(look) > 1, times(stream)]).toEqual([!streams, streams ? 2 : 1])
})

test('a gateway over the same data folder is followed by its stream, to a revision', async () => {
  await using folder = await temporaryFolder()
  await using _home = await serve(folder.path)
  const args = [command, 'watch', '--since', '0', '--until', '3', '--json']
  const { code, stdout } = await run(process.execPath, args, { DRAGOMAN_DATA: folder.path }).ended
  const revisions = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).revision)
  expect([code, revisions.length > 0, revisions.every((revision) => revision <= 3)]).toEqual([0, true, true])
})
