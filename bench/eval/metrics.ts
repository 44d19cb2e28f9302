export const metricNames = ['ndcg10', 'mrr10', 'recall5', 'recall10'] as const
export type Metrics = Readonly<Record<(typeof metricNames)[number], number>>

/**
 * Measures of a ranking for one question, each 0 to 1. NDCG uses the gains without a transformation (Järvelin and
 * Kekäläinen 2002).
 */
export function measure(ranking: readonly string[], relevant: ReadonlyMap<string, number>): Metrics {
  const gains = ranking.slice(0, 10).map((id) => relevant.get(id) ?? 0)
  const ideal = [...relevant.values()].sort((left, other) => other - left).slice(0, 10)
  const first = gains.findIndex((gain) => gain > 0)
  const found = (depth: number) => gains.slice(0, depth).filter((gain) => gain > 0).length / relevant.size
  return {
    ndcg10: discounted(gains) / discounted(ideal),
    mrr10: first < 0 ? 0 : 1 / (first + 1),
    recall5: found(5),
    recall10: found(10),
  }
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0)
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function meanMetrics(all: readonly Metrics[]): Metrics {
  const means = metricNames.map((name) => [name, mean(all.map((item) => item[name]))])
  return Object.fromEntries(means) as Metrics
}

const rounds = 2000

/** 95 % interval of the mean of paired differences, by bootstrap over the questions (percentiles; a fixed seed). */
export function bootstrap(differences: readonly number[]): readonly [low: number, high: number] {
  const random = mulberry32(1)
  const means = Array.from({ length: rounds }, () => {
    let sum = 0
    for (let at = 0; at < differences.length; at++) {
      sum += differences[Math.floor(random() * differences.length)] ?? 0
    }
    return sum / differences.length
  }).sort((left, other) => left - other)
  return [means[Math.floor(rounds * 0.025)] ?? 0, means[Math.floor(rounds * 0.975)] ?? 0]
}

/** Small seeded generator (Tommy Ettinger's mulberry32). */
export function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
