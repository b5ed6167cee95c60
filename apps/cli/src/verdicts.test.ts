import { blockVersion, encodedHeader } from '@ratatosk/block'
import { expect, onTestFinished, test } from 'vitest'
import { anyPlace } from './test/any-place.js'
import { run } from './test/run.js'
import { withNode } from './test/store-node.js'

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
