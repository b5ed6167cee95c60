// The printed and kept results of runs of submissions.
import { median, percentile, round } from '../figures.mjs'

/** Processor time per transaction of each third, in microseconds: `[role, [first, second, third]]`. */
function processorTimeByThirds({ thirds, samples }) {
  const secondsAt = (time, who) =>
    (samples.findLast(({ at }) => at <= time) ?? samples[0]).seconds.get(who) ?? 0
  return [...samples[0].seconds.keys()].map((who) => [
    who,
    thirds.map(
      ({ from, span, count }) => ((secondsAt(from + span, who) - secondsAt(from, who)) * 1e6) / count,
    ),
  ])
}

const offered = (rate) => (rate ? `${round(rate)}/s offered` : 'as many as are taken')

function microseconds({ seconds, count }) {
  return [...seconds].map(([who, each]) => [who, (each * 1e6) / count])
}

const sumOf = (figure) => microseconds(figure).reduce((sum, [, each]) => sum + each, 0)

/** The kept figures of a run for docs/performance.md. */
export function figuresOf(rate, figure) {
  const { count, blocks, perSecond, fromAcceptance, answerMs, ceiling, elapsed } = figure
  const halfAndMost = (values) => values && [percentile(values, 0.5), percentile(values, 0.95)]
  return {
    rate,
    perSecond,
    ceiling,
    load: figure.load,
    transactions: count,
    blocks,
    seconds: elapsed / 1000,
    answersMs: halfAndMost(answerMs),
    fromAcceptanceS: halfAndMost(fromAcceptance),
    microseconds: Object.fromEntries(microseconds(figure)),
    memoryMiB: Object.fromEntries([...figure.memory].map(([role, all]) => [role, Math.max(...all)])),
    diskBytes: Object.fromEntries([...figure.disk].map(([what, bytes]) => [what, bytes / count])),
  }
}

export function print(side, rate, figure) {
  const { count, early, blocks, thirds, perSecond, fromAcceptance, fromSubmission, answerMs, ceiling } =
    figure
  const halfAndMost = (values, unit) =>
    `p50 ${percentile(values, 0.5).toFixed(1)} ${unit}, p95 ${percentile(values, 0.95).toFixed(1)} ${unit}`
  const lines = [
    `submitted → committed, ${figure.setting}, ` +
      `${offered(rate)}: ${round(perSecond)} tx/s; ` +
      `bare libsodium verifications ${round(ceiling)}/s; ratio ${(perSecond / ceiling).toFixed(2)}`,
    `${round(count)} transactions, each in one block, after ${round(early)} to warm up; answers ` +
      `after ${halfAndMost(answerMs, 'ms')}; load ${figure.load.toFixed(1)}`,
    ...(blocks === undefined
      ? []
      : [
          `${blocks} blocks; by thirds ` +
            `${thirds.map(({ count, span }) => round((count * 1000) / span)).join(', ')} tx/s; from ` +
            `acceptance ${halfAndMost(fromAcceptance, 's')}; ` +
            `from submission ${halfAndMost(fromSubmission, 's')}`,
          `processor time per transaction, by thirds: ${processorTimeByThirds(figure)
            .map(([who, each]) => `${who} ${each.map(round).join(', ')} µs`)
            .join('; ')}`,
        ]),
    `processor time per transaction: ${microseconds(figure)
      .map(([who, each]) => `${who} ${round(each)} µs`)
      .join(', ')}; in all ${round(sumOf(figure))} µs`,
    `anonymous memory after each quarter: ${[...figure.memory]
      .map(([role, all]) => `${role} ${quarters(all).map(round).join(', ')} MiB`)
      .join('; ')}`,
    `disk per transaction: ` +
      `${[...figure.disk].map(([what, bytes]) => `${what} ${round(bytes / count)} B`).join(', ')}`,
    ...(figure.ranOut
      ? ['the transactions ran out before the time: raise BENCH_OUTPUTS and BENCH_MOST']
      : []),
  ]
  console.log(lines.map((line, n) => `${n === 0 ? side : ' '.repeat(side.length)}  ${line}`).join('\n'))
}

function quarters(values) {
  return [0.25, 0.5, 0.75, 1].map((share) => values[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0)
}

/** Prints medians of now and before, beside each other. */
export function compare(rate, { before, now }) {
  const ratio = (of) => (median(now.map(of)) / median(before.map(of))).toFixed(2)
  const most = ({ fromAcceptance }) => percentile(fromAcceptance, 0.95)
  console.log(
    `now / before, ${offered(rate)}, ${now.length === 1 ? 'one turn' : `medians of ${now.length} turns`}: ` +
      `tx/s ${ratio(({ perSecond }) => perSecond)}, ` +
      `processor time per transaction ` +
      `${ratio(sumOf)}${now[0].fromAcceptance ? `, p95 from acceptance ${ratio(most)}` : ''}`,
  )
}
