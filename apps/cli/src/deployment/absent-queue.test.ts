import { expect, test } from 'vitest'
import { testLayer1 } from '../test/layer1.js'
import { run } from '../test/run.js'
import { expectQueue } from './absent-queue.js'

const confirmed = { headerHash: new Uint8Array(28), utxosRoot: new Uint8Array(32), endTime: 0n }
const absent = { fault: '0 roots instead of 1', blocks: [] }

test('a queue that was never there is a matter of settings, one that is gone is not', () => {
  const expected = expectQueue('a devnet')
  expect(() => expected(absent)).toThrow(
    /^Layer 1 \(a devnet\) has no state queue for these contract settings: take PROTOCOL, .*_POLICIES/,
  )
  const sound = { confirmed, blocks: [] }
  expect(expected(sound)).toBe(sound)
  expect(expected(absent)).toBe(absent)
  const broken = { fault: 'The datum is not a root', blocks: [] }
  expect(expectQueue('a devnet')(broken)).toBe(broken)
})

test('audit and verify are incomplete on a layer 1 without a queue of these settings', {
  timeout: 300_000,
}, async (context) => {
  const layer1 = await testLayer1()
  context.onTestFinished(() => layer1.close())
  const environment = { ...layer1.settings, BRIDGED_POLICIES: 'ab'.repeat(28) }
  const archivist = ['--archivist', 'http://127.0.0.1:1/archivist']
  const message = /has no state queue for these contract settings: take PROTOCOL, .* from the operator\.$/m
  const verified = await run(['verify', '1', ...archivist], environment)
  expect(verified).toMatchObject({ status: 3, out: '', error: expect.stringMatching(message) })
  const audited = await run(['audit', ...archivist], environment)
  expect(audited.out).toMatch(/^incomplete: 0 findings\n/)
  expect(audited).toMatchObject({ status: 3, out: expect.stringMatching(message), error: '' })
})
