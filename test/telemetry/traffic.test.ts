import { describe, expect, test } from 'vitest'
import { createTraffic } from '../../src/telemetry/traffic.ts'

const hour = 3_600_000
const start = Date.parse('2026-11-24T10:20:00Z')

function traffic() {
  let now = start
  const counted = createTraffic(() => now)
  return {
    ...counted,
    wait(milliseconds: number) {
      now += milliseconds
    },
  }
}

describe('the calls of a day', () => {
  test('stand at their hour, the last one last', () => {
    const { call, hours, wait } = traffic()
    call('ok', 0.01)
    wait(2 * hour)
    call('not_found', 0.001)
    call('internal', 0.2)
    const all = hours()
    expect(all).toHaveLength(24)
    expect(all.at(-1)).toMatchObject({ at: '2026-11-24T12:00:00.000Z', calls: 2, refused: 1, failed: 1 })
    expect(all.at(-3)).toMatchObject({ at: '2026-11-24T10:00:00.000Z', calls: 1, refused: 0, failed: 0 })
    expect(all.at(-2)).toMatchObject({ calls: 0, p50_ms: null, p95_ms: null })
  })

  test('are forgotten after a day, and after a clock that was set back', () => {
    const { call, hours, wait } = traffic()
    call('ok', 0.01)
    wait(24 * hour)
    expect(hours().map(({ calls }) => calls)).toEqual(Array(24).fill(0))
    call('ok', 0.01)
    wait(-24 * hour)
    expect(hours().at(-1)?.calls).toBe(0)
  })

  test('have times within the bounds that were counted together', () => {
    const { call, hours } = traffic()
    for (let at = 0; at < 95; at++) call('ok', 0.015)
    for (let at = 0; at < 5; at++) call('ok', 100)
    const { p50_ms, p95_ms } = hours().at(-1) ?? {}
    expect(p50_ms).toBeGreaterThan(10)
    expect(p50_ms).toBeLessThan(20)
    expect(p95_ms).toBe(20)
    for (let at = 0; at < 20; at++) call('ok', 100)
    expect(hours().at(-1)?.p95_ms).toBe(60_000)
  })
})

describe('an agent outside of the registry', () => {
  test('is failing if a fifth of its last calls fail by its own fault', () => {
    const { upstream, upstreams } = traffic()
    for (const code of ['ok', 'ok', 'ok', 'ok', 'not_found', 'rate_limited'])
      upstream('com.example.well', code, 0.1)
    for (const code of ['ok', 'ok', 'ok', 'ok', 'upstream_timeout']) upstream('com.example.ill', code, 0.1)
    for (let at = 0; at < 3; at++) upstream('com.example.late', 'ok', 6)
    for (let at = 0; at < 2; at++) upstream('com.example.rare', 'upstream_failed', 1)
    expect(upstreams()).toMatchObject([
      { agent: 'com.example.ill', state: 'failing', calls: 5, failed: 1 },
      { agent: 'com.example.late', state: 'slow', calls: 3, failed: 0 },
    ])
  })

  test('is well again two hours later', () => {
    const { upstream, upstreams, wait } = traffic()
    for (let at = 0; at < 3; at++) upstream('com.example.ill', 'upstream_failed', 0.1)
    wait(hour)
    expect(upstreams()).toHaveLength(1)
    wait(hour)
    expect(upstreams()).toEqual([])
  })

  test('is forgotten when 500 others were called since', () => {
    const { upstream, upstreams } = traffic()
    for (let at = 0; at < 3; at++) upstream('com.example.first', 'upstream_failed', 0.1)
    for (let at = 0; at < 500; at++) upstream(`com.example.agent${at}`, 'ok', 0.1)
    expect(upstreams()).toEqual([])
  })
})
