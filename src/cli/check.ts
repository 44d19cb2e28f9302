import type { LivenessHistory, LivenessOutcome } from '../../schemas/liveness.ts'
import { readNumber } from './input.ts'
import { coloured, marked, print, printTable, say } from './output.ts'
import { askRegistry, askRunning } from './send.ts'

/** Probes an agent now; the exit code is 1 unless it answers or has nothing to answer at. */
export async function check(agent: string, json: boolean): Promise<void> {
  const outcome = await askRunning<LivenessOutcome>('check', { agent })
  const { package_name, liveness, signals } = outcome
  if (signals.some(({ ok }) => !ok)) process.exitCode = 1
  if (json) return print(outcome)
  print(`${package_name} ${coloured(liveness.status)}`)
  for (const { signal, ok, failure, detail, ms } of signals) {
    const why = ok ? '' : ` ${failure ?? ''}${detail === null ? '' : `: ${marked(detail)}`}`
    print(`  ${ok ? 'ok  ' : 'FAIL'} ${signal}${why}${ms === null ? '' : ` (${ms} ms)`}`)
  }
  if (signals.some(({ failure }) => failure === 'blocked_address'))
    say(
      'To let the gateway call it, put its origin into DRAGOMAN_ALLOW_ORIGINS in dragoman.json of the data folder, and start the gateway again.',
    )
  if (signals.length === 0)
    print('  It has nothing to probe: the gateway hosts it, or it states no endpoint.')
}

/** Prints what the probes of each of the last days found, without probing. */
export async function showDays(agent: string, text: string, json: boolean): Promise<void> {
  const days = readNumber('--days', text, 1, 366)
  const history = await askRegistry<LivenessHistory>('get_liveness_history', { agent, days })
  if (json) return print(history)
  if (history.days.length === 0) return say(`No probe was counted from ${history.from} to ${history.to}.`)
  await printTable(
    [{ title: 'DAY' }, { title: 'PROBES' }, { title: 'NO ANSWER' }, { title: 'MEDIAN' }, { title: '95 %' }],
    history.days.map(({ date, probes, failures, p50_ms, p95_ms }) => [
      date,
      String(probes),
      String(failures),
      milliseconds(p50_ms),
      milliseconds(p95_ms),
    ]),
  )
}

function milliseconds(value: number | null): string {
  return value === null ? '' : `${Math.round(value)} ms`
}
