import { expect, test } from 'vitest'
import { Outage } from '../../src/app/outage.ts'
import { UnreachableStore } from '../../src/store/store-health.ts'
import { createLogger } from '../../src/telemetry/log.ts'

/** An outage with the lines that it logs, on a clock that stands. */
function loggedOutage() {
  const time = { now: 1_795_000_000_000 }
  const lines: unknown[][] = []
  const log = createLogger('info', {
    write(line) {
      const { level, msg, seconds, reason, err } = JSON.parse(line)
      lines.push([level, msg, seconds, reason, err])
    },
  })
  return { time, lines, outage: new Outage('the store', log, () => time.now) }
}

const away = 'the store cannot be reached'

test('an outage of the store is logged at its begin, once a minute, and at its end', () => {
  const { time, lines, outage } = loggedOutage()
  const fault = new UnreachableStore(new Error('connect ECONNREFUSED'))
  outage.end()
  for (let second = 0; second <= 125; second++) {
    outage.note(fault)
    outage.note(fault)
    time.now += 1000
  }
  time.now += 2000
  outage.end()
  outage.end()
  expect(lines).toEqual([
    [50, away, 0, 'connect ECONNREFUSED', undefined],
    [50, away, 60, 'connect ECONNREFUSED', undefined],
    [50, away, 120, 'connect ECONNREFUSED', undefined],
    [40, 'the store is back', 128, undefined, undefined],
  ])
})

test('a store that answers some statements and refuses others is one outage', () => {
  const { time, lines, outage } = loggedOutage()
  const fault = new UnreachableStore(new Error('too many connections'))
  for (let second = 0; second < 30; second++) {
    outage.note(fault)
    outage.end()
    expect(outage.lasts).toBe(true)
    time.now += 1000
  }
  time.now += 2000
  outage.end()
  expect(outage.lasts).toBe(false)
  expect(lines.map(([, msg]) => msg)).toEqual([away, 'the store is back'])
})

test('an outage ends also where the clock was set back meanwhile', () => {
  const { time, outage } = loggedOutage()
  outage.note(new UnreachableStore(new Error('connect ECONNREFUSED')))
  time.now -= 3_600_000
  outage.end()
  expect(outage.lasts).toBe(true)
  time.now += 3000
  outage.end()
  expect(outage.lasts).toBe(false)
})
