import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from './entries.ts'
import type { TestGateway } from './gateway.ts'

const dayMilliseconds = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * dayMilliseconds).toISOString()

/** An agent that has everything that the page of an agent can show. */
const kites = (): StoredEntry =>
  sampleEntry({
    package_name: 'com.example.kites',
    name: 'Kite weather',
    description:
      'Says where and when the wind is right for a kite, up to five days ahead, and how sure it is.',
    version: '1.4.0',
    license: 'MIT',
    category: 'weather',
    tags: ['wind', 'forecast'],
    verification_level: 'domain_verified',
    owner: { issuer: 'urn:sample', subject: 'ada', namespace: null },
    manifest_url: 'https://kites.example.com/.well-known/agent-card.json',
    source_url: 'https://github.com/example/kites',
    card_sha256: 'a3'.repeat(32),
    access: { kind: 'open', asked_at: daysAgo(1) },
    endpoints: [{ protocol: 'mcp', url: 'https://kites.example.com/mcp' }],
    proof: {
      method: 'dns',
      domain: 'example.com',
      proved_at: daysAgo(3),
      checked_at: daysAgo(0.3),
      failures: 0,
      failing_since: null,
      detail: null,
      card_sha256: null,
      manifest_url: null,
      key: null,
    } as unknown as StoredEntry['proof'],
    capabilities: [
      {
        name: 'get_wind',
        description: 'The wind at a place, hour by hour.',
        input_schema: {
          type: 'object',
          required: ['place', 'days'],
          properties: {
            place: { type: 'string', description: 'A town, or a beach.', examples: ['Scheveningen'] },
            days: { type: 'integer', minimum: 1, maximum: 5, description: 'Days ahead.' },
            unit: { enum: ['m/s', 'kn', 'bft'] },
            parts: { type: 'array', items: { enum: ['speed', 'gusts', 'direction'] } },
            kite: {
              type: 'object',
              description: 'The kite that is to fly.',
              properties: { area: { type: 'number', description: 'In square metres.' } },
            },
            filter: { oneOf: [{ type: 'string' }, { type: 'object' }] },
          },
        },
      },
      { name: 'list_beaches', description: 'Beaches near a place.' },
    ],
  })

/** Lists the agent with two versions, and probes of seventy days. */
export async function listSampleAgent({ gateway }: TestGateway): Promise<void> {
  const { store, tailer, liveness } = gateway
  const entry = kites()
  const first = { ...entry, version: '1.3.0', description: 'Says where the wind is right for a kite.' }
  for (const version of [first, entry]) await store.write((writer) => writer.put(version))
  await store.liveness.watch([{ entry_id: entry.id, place: '[]', active: false }])
  const today = Math.floor(Date.now() / dayMilliseconds)
  for (let age = 70; age >= 0; age--) {
    const before = await store.liveness.get(entry.id)
    if (!before || age % 17 === 5) continue
    const failures = age % 13 === 7 ? 24 : age % 9 === 4 ? 6 : 0
    const [p50_ms, p95_ms] = failures === 24 ? [null, null] : [180 + age, 400 + age]
    const counts = { day: today - age, probes: 24, failures, latencies: [], p50_ms, p95_ms }
    const figures = { uptime_30d: 0.985, p50_ms: 210, p95_ms: 480 }
    const shown = { ...before.shown, ...figures, status: 'alive' as const, checked_at: daysAgo(0) }
    await store.liveness.save([{ ...before, shown, history: { ...before.history, today: counts } }])
  }
  await tailer.caughtUp(await store.read.revision())
  await liveness.livenessCache.sweep()
}

/** Lists an agent whose texts and schemas are as bad as they can be. */
export async function listHostileAgent({ gateway }: TestGateway): Promise<void> {
  const attack = `<script>console.log(1)</script>"'><img src=x onerror=console.log(2)>`
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
  const { revision } = await gateway.store.write((writer) =>
    writer.put(
      sampleEntry({
        package_name: 'com.example.hostile',
        name: `\u202E${attack}${'wide'.repeat(2500)}`,
        description: attack,
        source_url: 'data:text/html,<script>console.log(3)</script>',
        access: { kind: 'open', asked_at: '2026-01-01T00:00:00.000Z' },
        endpoints: [{ protocol: 'mcp', url: 'https://hostile.example.com/mcp' }],
        capabilities: [
          {
            name: attack,
            description: '',
            input_schema: {
              type: 'object',
              $defs: { node },
              properties: Object.fromEntries(
                Array.from({ length: 500 }, (_, at) => [
                  `field-${at}-${'wide'.repeat(20)}`,
                  at % 2 === 0 ? { $ref: '#/$defs/node' } : { type: 'string', pattern: '^(a+)+$' },
                ]),
              ),
            },
          },
        ],
      }),
    ),
  )
  await gateway.tailer.caughtUp(revision)
}
