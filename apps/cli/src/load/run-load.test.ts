import { createClient } from '@ratatosk/client'
import { readSettings, startNode } from '@ratatosk/node'
import { expect, onTestFinished, test, vi } from 'vitest'
import { anyPlace } from '../test/nodes.js'
import { run } from '../test/run.js'
import { quantilesOf, runLoad } from './run-load.js'

vi.setConfig({ testTimeout: 120_000 })

/** As the global one, but the node asks for a fee of 3000 ada. */
const dear: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!String(input).endsWith('/network')) return response
  const text = await response.text()
  expect(text).toContain('"min_fee_b":155381')
  return new Response(text.replace('"min_fee_b":155381', '"min_fee_b":3000000000'), response)
}

async function openNode(): Promise<string> {
  const { settings, secrets, remove } = await anyPlace()
  onTestFinished(remove)
  const manual = { AUTO_COMMIT: 'false', AUTO_INIT: 'false', SERVE_DOCS: 'false' }
  const node = await startNode(
    readSettings({ ...manual, ...settings, ...secrets, PORT: '0', LOG_LEVEL: 'silent' }),
  )
  onTestFinished(() => node.close())
  return node.url
}

/** The names of warnings from now on. */
function warningsOfProcess(): readonly string[] {
  const warnings: string[] = []
  const note = ({ name }: Error) => warnings.push(name)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  return warnings
}

test('a chain of payments whose funds are spent ends, and the report says so', async () => {
  const url = await openNode()
  const warnings = warningsOfProcess()
  // Outputs of 10,000 ada pay three times each, and one of at most two has paid before it is counted.
  const report = await runLoad([createClient(url, { fetch: dear })], { rate: 2, seconds: 6 })
  const { WALLET_INSUFFICIENT_FUNDS: ended = 0, ...others } = report.failed
  expect(others).toEqual({})
  expect(ended).toBeGreaterThan(0)
  expect(report.submitted).toBeGreaterThan(0)
  expect(report.accepted).toBe(report.submitted)
  expect(report.late).toBeGreaterThan(0)
  // On a busy machine a payment may also be late because its chain still waits for an answer.
  const { waiting } = report.lateBecause
  expect(report.lateBecause).toEqual({ waiting, ended: report.late - waiting, behind: 0 })
  expect(waiting).toBeLessThan(report.late)
  expect(report.submitted + ended + report.late).toBe(12)
  expect(warnings).not.toContain('TimeoutNegativeWarning')
})

test('another node gets what one does not answer, and what none answers has failed', async () => {
  const url = await openNode()
  const away = createClient('http://127.0.0.1:9')
  const both = await runLoad([createClient(url), away], { rate: 5, seconds: 1 })
  expect(both).toMatchObject({ failed: {}, late: 0, submitted: 5 })
  let answers = 40
  const leaving: typeof fetch = async (input, init) => {
    if (String(input).endsWith('/submit') && answers-- <= 0) throw new TypeError('fetch failed')
    return fetch(input, init)
  }
  const report = await runLoad([createClient(url, { fetch: leaving }), away], { rate: 20, seconds: 3 })
  expect(report.failed.CLIENT_NETWORK).toBeGreaterThan(0)
  expect(report.submitted + (report.failed.CLIENT_NETWORK ?? 0) + report.late).toBe(60)
  expect(report.accepted + report.pending).toBe(report.submitted)
})

test('load takes several nodes', async () => {
  const { status, error } = await run(['load', '--url', 'nonsense', '--url', 'http://127.0.0.1:9'])
  expect([status, error]).toEqual([2, expect.stringContaining('--url must be a URL')])
})

test('there are chains for answers that take almost a second', async () => {
  const url = await openNode()
  const warnings = warningsOfProcess()
  const slow: typeof fetch = async (input, init) => {
    if (String(input).endsWith('/submit')) await new Promise((resolve) => setTimeout(resolve, 800))
    return fetch(input, init)
  }
  const report = await runLoad([createClient(url, { fetch: slow })], { rate: 40, seconds: 3 })
  expect(report.chains).toBeGreaterThanOrEqual(40)
  expect(report.submitted).toBeGreaterThan(0)
  expect(report.accepted + report.pending).toBe(report.submitted)
  expect(warnings).toEqual([])
})

test('nothing is offered after the time, and the end waits for no answer for long', async () => {
  const url = await openNode()
  let mayAnswer = 60
  const hanging: typeof fetch = async (input, init) => {
    if (!String(input).endsWith('/submit')) return fetch(input, init)
    const offeredAt = performance.now()
    // As a machine that is too slow for the rate.
    while (performance.now() < offeredAt + 30);
    if (mayAnswer-- > 0) return fetch(input, init)
    return new Promise((_, reject) =>
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
    )
  }
  const report = await runLoad([createClient(url, { fetch: hanging })], { rate: 100, seconds: 3 })
  // Three seconds hold a hundred requests of 30 ms; 300 would take nine.
  expect(report.submitted).toBeLessThan(150)
  expect(report.lateBecause.behind).toBeGreaterThan(100)
  expect(report.submitted + report.late).toBe(300)
  expect(report.pending).toBeGreaterThan(0)
  expect(report.failed).toEqual({})
})

test('quantiles are values of the list, by nearest rank', () => {
  const values = Array.from({ length: 200 }, (_, n) => 200 - n)
  expect(quantilesOf(values)).toEqual({ p50: 100, p95: 190, p99: 198, max: 200 })
  expect(quantilesOf([7.4])).toEqual({ p50: 7, p95: 7, p99: 7, max: 7 })
  expect(quantilesOf([])).toEqual({ p50: 0, p95: 0, p99: 0, max: 0 })
})
