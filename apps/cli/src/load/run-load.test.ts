import { createClient } from '@ratatosk/client'
import { readSettings, startNode } from '@ratatosk/node'
import { expect, onTestFinished, test, vi } from 'vitest'
import { anyPlace } from '../test/any-place.js'
import { runLoad } from './run-load.js'

vi.setConfig({ testTimeout: 120_000 })

/** As the global one, but the node asks for a fee of 3000 ada. */
const dear: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!String(input).endsWith('/network')) return response
  const text = await response.text()
  expect(text).toContain('"min_fee_b":155381')
  return new Response(text.replace('"min_fee_b":155381', '"min_fee_b":3000000000'), response)
}

test('a chain of payments whose funds are spent ends, and the report says so', async () => {
  const { settings, secrets, remove } = await anyPlace()
  onTestFinished(remove)
  const manual = { AUTO_COMMIT: 'false', AUTO_INIT: 'false', SERVE_DOCS: 'false' }
  const node = await startNode(
    readSettings({ ...manual, ...settings, ...secrets, PORT: '0', LOG_LEVEL: 'silent' }),
  )
  onTestFinished(() => node.close())
  const warnings: string[] = []
  const note = ({ name }: Error) => warnings.push(name)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  // Outputs of 10,000 ada pay three times each, and one of at most two has paid before it is counted.
  const report = await runLoad(createClient(node.url, { fetch: dear }), { rate: 2, seconds: 6 })
  const { WALLET_INSUFFICIENT_FUNDS: ended = 0, ...others } = report.failed
  expect(others).toEqual({})
  expect(ended).toBeGreaterThan(0)
  expect(report.submitted).toBeGreaterThan(0)
  expect(report.accepted).toBe(report.submitted)
  expect(report.late).toBeGreaterThan(0)
  expect(report.submitted + ended + report.late).toBe(12)
  expect(warnings).not.toContain('TimeoutNegativeWarning')
})
