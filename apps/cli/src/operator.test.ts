import { readSettings, startNode } from '@ratatosk/node'
import { expect, onTestFinished, test } from 'vitest'
import { anyPlace } from './test/any-place.js'
import { run } from './test/run.js'

const bond = 500_000_000

test('a bond is withdrawn and deposited again', { timeout: 300_000 }, async () => {
  const { settings, secrets, remove } = await anyPlace()
  onTestFinished(remove)
  const short = { MATURITY_WINDOW_MS: '6000', OPERATOR_TURN_MS: '10000', BLOCK_VALIDITY_MS: '6000' }
  const node = await startNode(
    readSettings({ ...short, ...settings, ...secrets, PORT: '0', LOG_LEVEL: 'silent' }),
  )
  onTestFinished(() => node.close())
  const asked = async (...argv: string[]) => {
    const { status, out } = await run([...argv, '--url', node.url, '--json'], {})
    return { status, value: JSON.parse(out) }
  }
  const listed = async () => (await asked('operators')).value.operators
  const ada = async () => Number((await asked('wallet')).value.lovelaceBalance)
  const refusal = (reason: string) => ({
    status: 1,
    value: { error: { message: expect.stringContaining(`The bond is locked: ${reason}`) } },
  })
  // The node may not have initialised the rollup yet.
  await expect
    .poll(() => asked('operator', 'release'), { interval: 500 })
    .toMatchObject(refusal('the operator has not retired'))
  expect(await asked('operator', 'register')).toMatchObject({
    status: 0,
    value: { message: 'The operator is registered already', bond: String(bond) },
  })
  const retired = await asked('operator', 'retire')
  const txHash = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(retired).toMatchObject({ status: 0, value: { txHash, others: 0 } })
  const { activeUntil, releaseAt } = retired.value
  expect(Date.parse(releaseAt) - Date.parse(activeUntil)).toBe(16_000)
  expect(await listed()).toMatchObject([{ activeUntil, releaseAt }])
  expect((await asked('operator', 'retire')).value).toEqual({
    message: 'The operator has retired already',
    operatorKey: expect.stringMatching(/^[0-9a-f]{56}$/),
    activeUntil,
    releaseAt,
    others: 0,
  })
  expect(await asked('operator', 'release')).toMatchObject(refusal(`it is free from ${releaseAt} on`))

  const before = await ada()
  const release = () => run(['operator', 'release', '--url', node.url], {})
  await expect
    .poll(async () => (await release()).out, { timeout: 120_000, interval: 2000 })
    .toMatch(/^The bond is withdrawn\noperator +[0-9a-f]{56}\ntransaction [0-9a-f]{64}\nbond +500 ada\n$/)
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(releaseAt))
  expect(await listed()).toEqual([])
  const after = await ada()
  expect(after - before).toBeGreaterThan(bond - 2_000_000)
  expect((await release()).out).toMatch(
    /^The registry has no bond of the operator\noperator .*\nbond +0 ada\n$/,
  )

  const registered = await asked('operator', 'register')
  expect(registered).toMatchObject({ status: 0, value: { txHash: expect.any(String), bond: String(bond) } })
  expect(await listed()).toMatchObject([{ bond: String(bond) }])
  expect(after - (await ada())).toBeGreaterThan(bond)
})
