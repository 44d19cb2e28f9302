import { expect, test } from 'vitest'
import { Outage } from '../../src/app/outage.ts'
import { UnreachableStore } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'

test('an outage of the store is logged at its begin, once a minute, and at its end', () => {
  let now = 1_795_000_000_000
  const lines: unknown[][] = []
  const log = createLogger('info', {
    write(line) {
      const { level, msg, seconds, reason, err } = JSON.parse(line)
      lines.push([level, msg, seconds, reason, err])
    },
  })
  const outage = new Outage(log, () => now)
  const fault = new UnreachableStore(new Error('connect ECONNREFUSED'))
  outage.end()
  for (let second = 0; second <= 125; second++) {
    outage.note(fault)
    outage.note(fault)
    now += 1000
  }
  outage.end()
  outage.end()
  const away = 'the store cannot be reached'
  expect(lines).toEqual([
    [50, away, 0, 'connect ECONNREFUSED', undefined],
    [50, away, 60, 'connect ECONNREFUSED', undefined],
    [50, away, 120, 'connect ECONNREFUSED', undefined],
    [40, 'the store is back', 126, undefined, undefined],
  ])
})
