import type { Gateway } from '../../src/app/gateway.ts'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import type { Write } from './bare-publishes.ts'

export function publication(number: number) {
  return {
    package_name: `com.bench.agent-${number}`,
    name: `Agent ${number}`,
    description: `Forecasts the weather of place ${number}, and tells whether umbrellas are needed there.`,
    capabilities: [{ name: 'forecast', description: 'The weather of tomorrow.' }],
    tags: ['weather'],
  }
}

/** Publishes in process. */
export function publishTo(gateway: Pick<Gateway, 'dispatch'>): Write {
  const { signal } = new AbortController()
  return (number) =>
    gateway.dispatch(
      { to: 'svc.registry', action: 'publish', params: publication(number) },
      { principal: localPrincipal, client: 'local', signal },
    )
}

/** Writes the numbers from `first` on by concurrent callers. */
export async function writeAll(first: number, count: number, callers: number, write: Write): Promise<void> {
  let next = first
  const work = async () => {
    while (next < first + count) {
      const number = next
      next += 1
      await write(number)
    }
  }
  await Promise.all(Array.from({ length: callers }, work))
}
