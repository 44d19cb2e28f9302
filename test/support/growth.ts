/**
 * How many times longer the larger work takes, each at its best of several runs in turn: about 4 for four times
 * the work in linear time, 16 in quadratic. Measures CPU time, which a busy machine does not increase. Work
 * of less than five milliseconds counts as five, since noise dominates below that.
 */
export async function growth(smaller: () => unknown, larger: () => unknown, rounds = 5): Promise<number> {
  let small = Number.POSITIVE_INFINITY
  let large = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    small = Math.min(small, await timeOf(smaller))
    large = Math.min(large, await timeOf(larger))
  }
  return large / Math.max(small, 5)
}

async function timeOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
