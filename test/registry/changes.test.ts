import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { eventsOf, take } from '../support/events.ts'

test('try', async () => {
  await using home = await startGateway()
  const page = (await home.request('GET', '/public/changes?limit=2')).json
  console.log(JSON.stringify(page).slice(0, 3000))
  console.log((await home.request('GET', '/public/changes?since=99')).json)
  console.log((await home.request('GET', '/public/changes?since=x')).json)
  const answer = await fetch(`${home.url}/public/changes`, { headers: { Accept: 'text/event-stream' } })
  const events = eventsOf(answer)
  for (const one of await take(events, 6)) console.log(one.event, one.id, JSON.stringify(one.data).slice(0, 100))
})
