import { describe, expect, it, vi } from 'vitest'
import { elasticsearch, firstNode, furtherNode, startElasticsearch } from '../support/elasticsearch.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const soon = { timeout: 120_000, interval: 250 }

describe.skipIf(!elasticsearch || elasticsearch.startsWith('http'))('two nodes of Elasticsearch', () => {
  const publish = (gateway: TestGateway, package_name: string) =>
    list(gateway, {
      package_name,
      description: 'Zebra crossings',
      capabilities: [{ name: 'act', description: 'Zebras' }],
    })
  const find = async (gateway: TestGateway) => {
    const { status, json } = await gateway.request('GET', '/public/agents?q=zebra')
    return { status, degraded: json.degraded as string | undefined, total: json.total as number | undefined }
  }

  it('lose nothing when one of them is killed, and searches go on by themselves', async () => {
    await using first = await startElasticsearch(firstNode)
    await using second = await startElasticsearch(furtherNode(first))
    await expect
      .poll(async () => ((await health(first.origin)) as { number_of_nodes: number }).number_of_nodes, soon)
      .toBe(2)
    const { port } = new URL(first.origin)
    const index = `failover-${process.pid}`
    await using gateway = await startGateway({
      DRAGOMAN_SEARCH: `elasticsearch+http://127.0.0.1:${port}/${index}?shards=3&replicas=1`,
    })
    for (let at = 0; at < 10; at++) await publish(gateway, `com.example.before${at}`)
    await health(first.origin, 'wait_for_status=green&timeout=100s')
    expect(await shardsOf(first.origin, index)).toEqual({ number_of_shards: '3', number_of_replicas: '1' })
    expect(await find(gateway)).toEqual({ status: 200, total: 10 })

    await second.kill()
    const seen: Awaited<ReturnType<typeof find>>[] = []
    await publish(gateway, 'com.example.later')
    await vi.waitFor(async () => {
      const found = await find(gateway)
      seen.push(found)
      expect(found).toEqual({ status: 200, total: 11 })
    }, soon)
    // No answer lacked agents without a word.
    for (const { status, degraded, total } of seen)
      expect(status === 503 || degraded !== undefined || total === 11).toBe(true)
  }, 300_000)
})

async function health(origin: string, query = ''): Promise<unknown> {
  return await (await fetch(`${origin}/_cluster/health?${query}`)).json()
}

async function shardsOf(origin: string, index: string) {
  const settings = (await (await fetch(`${origin}/${index}-entries-*/_settings`)).json()) as Record<
    string,
    { settings: { index: Record<string, string> } }
  >
  const { number_of_shards, number_of_replicas } = Object.values(settings)[0]!.settings.index
  return { number_of_shards, number_of_replicas }
}
