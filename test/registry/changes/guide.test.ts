import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ChangeKind } from '../../../schemas/change.ts'
import { DeliveryFailure } from '../../../schemas/webhook.ts'
import { temporaryFolder } from '../../support/command.ts'
import { blocksOf, guideOf } from '../../support/documents.ts'
import { eventsOf, take } from '../../support/events.ts'
import { startGateway } from '../../support/gateway.ts'
import { hostedNames, startRevision } from '../../support/hosted.ts'
import { list } from '../../support/listed.ts'
import { run } from '../../support/processes.ts'
import { openSocket } from '../../support/socket.ts'
import { serveTargets } from '../webhooks/targets.ts'

/** The examples follow from revision 4 on; a gateway that hosts another number of agents starts at another revision. */
function ofThisStart(code: string): string {
  const revisions = /((?:since|revision|progress|id)"?[=:] ?)(4|6)\b/g
  return code.replace(revisions, (_, name, revision) => `${name}${Number(revision) - 4 + startRevision}`)
}

const guide = ofThisStart(guideOf('changes.md'))
const [following = '', verifying = ''] = blocksOf(guide, 'js')
const [page, subscription, update, webhook, delivery] = blocksOf(guide, 'json').map((text) =>
  JSON.parse(text),
)
const [get = '', watch = '', create = ''] = blocksOf(guide, 'sh')

const endpoints = [{ protocol: 'envelope' as const, url: 'https://sun.example.com/' }]
const sun = { package_name: 'com.example.sun', endpoints }

/** A block of the guide as a module. */
async function load(code: string) {
  const folder = await temporaryFolder()
  const path = join(folder.path, 'guide.mjs')
  await writeFile(path, code)
  const module = await import(pathToFileURL(path).href)
  return { module, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

test('docs/changes.md: the requests are answered as it says', async () => {
  await using home = await startGateway()
  await list(home, sun)
  const token = await home.token('owner')
  const ask = async (script: string) => {
    const here = script.replaceAll('http://127.0.0.1:8080', home.url).replace('curl ', 'curl -sS ')
    const { code, stdout, stderr } = await run('bash', ['-euc', `TOKEN=${token}\n${here}`]).ended
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  expect(await ask(get)).toMatchObject(page)
  expect(await ask(create)).toMatchObject(webhook)

  const address = watch.match(/'(http[^']*)'/)?.[1]?.replace('http://127.0.0.1:8080', home.url) ?? ''
  const stop = new AbortController()
  const answer = await fetch(address, { headers: { Accept: 'text/event-stream' }, signal: stop.signal })
  const received = await take(eventsOf(answer), 3)
  const [shown = ''] = blocksOf(guide, 'text')
  const [, first, , last] = shown.trim().split('\n\n')
  expect(first).toBe(`event: progress\ndata: ${JSON.stringify(received[0]?.data)}`)
  expect(received[1]).toMatchObject({
    event: 'part',
    id: String(startRevision + 2),
    data: { kind: 'listed' },
  })
  expect(last).toBe(`event: progress\ndata: ${JSON.stringify(received[2]?.data)}`)
  stop.abort()

  await using peer = await openSocket(`${home.url}/rpc`, ['jsonrpc'])
  const parts = new Promise((resolve) =>
    peer.socket.on('message', (data) => {
      const frame = JSON.parse(String(data))
      if (frame.params?.part) resolve(frame)
    }),
  )
  peer.send(subscription)
  expect(await parts).toMatchObject(update)
})

test('docs/changes.md: a follower that follows its steps has a copy of the registry', async () => {
  await using home = await startGateway()
  const owner = await home.token('owner')
  await using example = await load(following)
  const agents = new Map<string, { package_name: string }>()
  const since = await example.module.catchUp(home.url, agents)
  const id = await list(home, sun, owner)
  expect(await example.module.catchUp(home.url, agents, since)).toBe(since + 2)
  expect(agents.get(id)?.package_name).toBe('com.example.sun')
  await home.request('DELETE', `/api/agents/${id}`, { token: owner })
  await example.module.catchUp(home.url, agents, since)
  expect([...agents.values()].map(({ package_name }) => package_name)).not.toContain('com.example.sun')
  expect(agents.size).toBe(hostedNames.length)
  await expect(example.module.catchUp(home.url, agents, 1000)).rejects.toThrow('at revision')
})

test('docs/changes.md: its verifier accepts deliveries that the gateway signed, and no others', async () => {
  await using targets = await serveTargets()
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: targets.url })
  const body = { url: `${targets.url}/hook` }
  const { json } = await home.request('POST', '/api/webhooks', { body, token: await home.token('owner') })
  await list(home, sun)
  await home.gateway.changes.deliverer.run(new AbortController().signal)
  const [received] = targets.received
  if (!received) throw new Error('Nothing was delivered.')
  expect(Object.keys(JSON.parse(received.body))).toEqual(Object.keys(delivery))
  expect(Object.keys(JSON.parse(received.body).data)).toEqual(Object.keys(delivery.data))
  await using example = await load(verifying)
  const { isFromGateway } = example.module
  const { headers } = received
  expect(isFromGateway(json.secret, headers, received.body)).toBe(true)
  expect(isFromGateway(json.secret, headers, `${received.body} `)).toBe(false)
  expect(isFromGateway(`whsec_${'A'.repeat(44)}`, headers, received.body)).toBe(false)
  expect(isFromGateway(json.secret, { ...headers, 'webhook-timestamp': '1' }, received.body)).toBe(false)
  expect(isFromGateway(json.secret, {}, received.body)).toBe(false)
})

test('docs/changes.md has every kind of change and every failure of a delivery', () => {
  for (const word of [...ChangeKind.options, ...DeliveryFailure.options])
    expect(guide).toContain(`| \`${word}\` |`)
})
