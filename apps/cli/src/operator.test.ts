import { blockVersion, encodedHeader } from '@ratatosk/block'
import { readSettings, startNode } from '@ratatosk/node'
import { expect, onTestFinished, test } from 'vitest'
import { anyPlace, withNode } from './test/nodes.js'
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
  const retire = ['operator', 'retire', '--url', node.url]
  expect(await run(retire)).toMatchObject({ status: 2, error: expect.stringContaining('needs --yes') })
  const unsure = await run(retire, {}, { ask: async () => 'no' })
  expect(unsure).toMatchObject({
    status: 1,
    error: expect.stringMatching(/\nbond {6}500 ada\n.*Nothing was done/s),
  })
  const { operatorKey } = (await listed())[0]
  expect(unsure.error).toContain(`node      ${node.url}, network devnet\noperator  ${operatorKey}\n`)
  expect(await listed()).toEqual([expect.not.objectContaining({ activeUntil: expect.anything() })])
  const retired = await asked('operator', 'retire', '--yes')
  const txHash = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(retired).toMatchObject({ status: 0, value: { txHash, others: 0 } })
  const { activeUntil, releaseAt } = retired.value
  expect(Date.parse(releaseAt) - Date.parse(activeUntil)).toBe(16_000)
  expect(await listed()).toMatchObject([{ activeUntil, releaseAt }])
  expect((await asked('operator', 'retire', '--yes')).value).toEqual({
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
  expect((await run(['status', '--url', node.url])).out).toContain("operators       0, without this node's: ")
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

const root = new Uint8Array(32)
const { bytes: header, hash: headerHash } = encodedHeader({
  prevUtxosRoot: root,
  utxosRoot: root,
  transactionsRoot: root,
  depositsRoot: root,
  withdrawalsRoot: root,
  startTime: 0n,
  endTime: 1n,
  prevHeaderHash: new Uint8Array(28),
  operatorVkey: new Uint8Array(28),
  blockVersion,
})
const name = Buffer.from(headerHash).toString('hex')

test('verdicts are listed, and an unprovable one fails', { timeout: 300_000 }, async () => {
  const { settings, secrets, remove } = await anyPlace()
  onTestFinished(remove)
  await withNode({ ...settings, ...secrets }, async (url, { verdicts }) => {
    const list = (...more: string[]) => run(['verdicts', '--url', url, ...more], {})
    const json = async (...more: string[]) => {
      const { status, out } = await list('--json', ...more)
      return { status, value: JSON.parse(out) }
    }
    expect(await json()).toEqual({ status: 0, value: { verdicts: [], hasMore: false } })
    expect(await list()).toMatchObject({ status: 0, out: 'No verdicts\n' })

    await verdicts.found({ headerHash, height: 7n, header, reason: 'It takes an output.' })
    const removal = { id: root, stage: 'removal', cbor: root, fee: 400_000n, locked: 0n } as const
    await verdicts.record(headerHash, removal, { policy: 'witness', fraud: 'missingSignature' })
    const cost = '1 transactions for 0.4 ada'
    const out = `block 7 (${name})  removing (missingSignature): It takes an output., ${cost}\n`
    expect(await list()).toMatchObject({ status: 0, out })

    await verdicts.unprovable(headerHash, 'No claim\u001b[2J\nproves it.')
    const failed = await json('--state', 'unprovable')
    expect(failed).toMatchObject({ status: 1, value: { verdicts: [{ headerHash: name }], hasMore: false } })
    expect((await list()).out).toContain('No claim\\u001b[2J\\u000aproves it.')
    expect((await json('--state', 'valid')).value.verdicts).toEqual([])
    expect((await json('--before', name)).value.verdicts).toEqual([])
    expect(await list('--state', 'wrong')).toMatchObject({
      status: 2,
      error: expect.stringContaining("Invalid --state 'wrong'"),
    })
    await verdicts.removed(headerHash)
    expect((await json()).status).toBe(0)
  })
  expect((await run(['verdicts', '--url', 'http://127.0.0.1:9'], {})).status).toBe(1)
})
