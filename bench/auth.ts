import { post } from './http.ts'
import { httpLoad, type Shot } from './support/load.ts'
import { compare, type Row, startSubject } from './support/measure.ts'

const shots: Record<string, Shot> = {
  'one agent': { method: 'GET', path: '/public/agents/svc.utility.wiki' },
  'envelope, resolve': post('/a2a/message', {
    to: 'custom.svc.registry',
    action: 'resolve_package',
    params: { package_name: 'svc.utility.wiki' },
  }),
}

/** Requests with a recently verified token against the same requests without a token, in turns on one gateway. */
export async function auth(): Promise<Row[]> {
  await using gateway = await startSubject(new URL('./support/product.ts', import.meta.url), ['1000'])
  const headers = { Authorization: `Bearer ${gateway.token}` }
  const rows: Row[] = []
  for (const [name, shot] of Object.entries(shots)) {
    const signed = { subject: gateway, load: httpLoad(gateway.url, { ...shot, headers }) }
    const anonymous = { subject: gateway, load: httpLoad(gateway.url, shot) }
    rows.push(...(await compare(`${name}, with a token`, signed, anonymous, { rounds: 9 })))
  }
  return rows
}
