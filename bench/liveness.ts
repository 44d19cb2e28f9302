import type { Row } from './support/measure.ts'
import { startSubject } from './support/measure.ts'

const agents = 10_000
const hour_us = 3_600_000_000

/**
 * Probes 10,000 agents with one conditional request each, as the loop of `serve` does. Measures the CPU of the probing
 * process as a share of one core over an hour, compared with bare undici that makes the same requests.
 */
export async function liveness(): Promise<Row[]> {
  await using site = await startSubject(new URL('./support/card-site.ts', import.meta.url))
  const [ours, theirs] = [
    await measured('liveness-probes', site.url),
    await measured('bare-probes', site.url),
  ]
  const share = (cpu_us: number) => Number(((100 * cpu_us * agents) / hour_us).toPrecision(3))
  const rounded = (value: number) => Number(value.toPrecision(4))
  const ratio = Number((ours / theirs).toPrecision(3))
  return [
    { name: 'a probe: CPU', value: rounded(ours), unit: 'us', baseline: rounded(theirs), ratio },
    {
      name: `${agents} probes an hour: of a core`,
      value: share(ours),
      unit: '%',
      baseline: share(theirs),
      ratio,
    },
  ]
}

/** Microseconds of CPU for one probe, in a separate process. */
async function measured(module: string, site: string): Promise<number> {
  await using subject = await startSubject(new URL(`./support/${module}.ts`, import.meta.url), [
    site,
    String(agents),
  ])
  const before = await subject.cpu()
  const probes = Number(await (await fetch(subject.url)).text())
  return ((await subject.cpu()) - before) / probes
}
