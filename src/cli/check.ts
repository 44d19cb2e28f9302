import type { LivenessOutcome } from '../../schemas/liveness.ts'
import { coloured, print } from './output.ts'
import { askRegistry } from './send.ts'

/** Probes an agent now; the exit code is 1 unless it answers or has nothing to answer at. */
export async function check(agent: string, json: boolean): Promise<void> {
  const outcome = (await askRegistry('check', { agent })) as unknown as LivenessOutcome
  const { package_name, liveness, signals } = outcome
  if (signals.some(({ ok }) => !ok)) process.exitCode = 1
  if (json) return print(outcome)
  print(`${package_name} ${coloured(liveness.status)}`)
  for (const { signal, ok, failure, detail, ms } of signals) {
    const why = ok ? '' : ` ${failure ?? ''}${detail === null ? '' : `: ${detail}`}`
    print(`  ${ok ? 'ok  ' : 'FAIL'} ${signal}${why}${ms === null ? '' : ` (${ms} ms)`}`)
  }
  if (signals.length === 0)
    print('  It has nothing to probe: the gateway hosts it, or it states no endpoint.')
}
