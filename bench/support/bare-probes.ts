// Bare undici: the same conditional requests; the answers are discarded.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { request } from 'undici'
import { cardAddresses } from './card-addresses.ts'
import { announce } from './measure.ts'

const [site = '', count = '0'] = process.argv.slice(2)
const atOnce = 32

async function all(): Promise<void> {
  const left = cardAddresses(site, Number(count))
  async function work(): Promise<void> {
    for (let url = left.pop(); url; url = left.pop()) {
      const headers = { accept: 'application/json', 'if-none-match': '"1"' }
      const { body } = await request(`${url.origin}${url.path}`, { headers })
      await body.dump()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

const server = createServer(async (_, response) => {
  await all()
  response.end(count)
})
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
