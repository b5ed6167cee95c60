export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The value below which a share of them lies, such as 0.95. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

export async function millisecondsOf(work) {
  const started = process.hrtime.bigint()
  await work()
  return Number(process.hrtime.bigint() - started) / 1e6
}

/** Microseconds of processor time of this process, since `process.cpuUsage()` gave `before`. */
export function processorMicros(before) {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

export const round = (value) => Math.round(value).toLocaleString('en')
