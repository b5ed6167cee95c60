import { blockVersion, encodedHeader } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { OpenQuestion } from '@ratatosk/client'
import type { Test } from 'tap'
import type { ConsoleNode } from './console-node.js'

const root = new Uint8Array(32)

/** A block that is in no queue. */
function disputed(height: number) {
  const { bytes, hash } = encodedHeader({
    prevUtxosRoot: root,
    utxosRoot: root,
    transactionsRoot: root,
    depositsRoot: root,
    withdrawalsRoot: root,
    startTime: 0n,
    endTime: BigInt(height),
    prevHeaderHash: root.subarray(4),
    operatorVkey: new Uint8Array(28).fill(height),
    blockVersion,
  })
  return { headerHash: hash, height: BigInt(height), header: bytes }
}

/** Watch: verdicts as they change, what they cost, and a summons. */
export async function watchPage(
  t: Test,
  { node, page, shows, visit, giveToken, looksRight }: ConsoleNode,
): Promise<void> {
  const { verdicts } = node.store
  await visit('watch')
  await shows('main', 'No block is disputed')
  await shows('main', 'No question waits for its answer')

  const [hidden, stolen, strange] = [disputed(1041), disputed(1042), disputed(1043)]
  const at = ({ headerHash }: typeof hidden) => `[data-verdict="${toHex(headerHash)}"]`
  await verdicts.found({ ...hidden, reason: 'No peer serves its body', state: 'unavailable' })
  await page.waitForSelector(`${at(hidden)}[data-state=unavailable]`, { timeout: 20_000 })
  const record = (block: typeof hidden, stage: 'question' | 'datum' | 'removal', fee: bigint) =>
    verdicts.record(
      block.headerHash,
      { id: Buffer.alloc(32, `${block.height}${stage}`), stage, cbor: root, fee, locked: 0n },
      stage === 'question' ? undefined : { policy: 'witness', fraud: 'missingSignature' },
    )
  await record(hidden, 'question', 301_205n)
  const rule = 'Transaction 3 breaks MissingVKeyWitnessesUTXOW: it spends an output without a signature'
  await verdicts.found({ ...stolen, reason: rule, position: 3 })
  await record(stolen, 'datum', 412_000n)
  await record(stolen, 'removal', 733_000n)
  await verdicts.removed(stolen.headerHash)
  await verdicts.found({ ...strange, reason: 'It breaks a rule' })
  const hostile = '<img src=x onerror=alert(1)> (not provable: no fraud proof shows it)'
  await verdicts.unprovable(strange.headerHash, hostile)

  await page.waitForSelector(`${at(stolen)}[data-state=removed]`, { timeout: 20_000 })
  await page.waitForSelector(`${at(strange)}[data-state=unprovable]`, { timeout: 20_000 })
  await shows(at(strange), hostile)
  await page.waitForSelector(`${at(hidden)} [data-stage=question]`, { timeout: 20_000 })
  t.equal(await page.getAttribute(`${at(stolen)} .cost`, 'data-cost'), '1145000')
  await shows(`${at(stolen)} .cost`, '1.145')
  await shows(at(stolen), 'witness: missingSignature')
  const steps = await page.locator(`${at(stolen)} .steps li`).all()
  const stages = await Promise.all(steps.map((step) => step.getAttribute('data-stage')))
  t.same(stages, ['datum', 'removal'])
  t.equal(await page.locator('.dispute').count(), 3)

  const question = {
    question: `${'ab'.repeat(32)}#0`,
    headerHash: toHex(hidden.headerHash),
    kind: 'chunk',
    root: 'transactionsRoot',
    key: '0000002a',
    deadline: new Date(Date.now() + 3_600_000).toISOString(),
    bond: '3000000',
  } satisfies OpenQuestion
  const answer = { questions: [question], hasMore: false }
  await page.route('**/summons?*', (route) => route.fulfill({ json: answer }))
  await page.waitForSelector(`#questions [data-question="${question.question}"]`, { timeout: 20_000 })
  await shows('#questions', 'chunk 42')
  await shows(`${at(hidden)} .waits`, 'chunk 42 waits for its answer')
  t.equal(await page.locator('.waits').count(), 1, 'beside its block')

  await page.fill('#summon input[name=hash]', toHex(hidden.headerHash))
  await page.click('#summon button')
  // The page may have the token from another page.
  await page.waitForSelector('input[name=token], #summon :text("No such block in the state queue")')
  if ((await page.locator('input[name=token]').count()) > 0) {
    await giveToken()
    await page.click('#summon button')
  }
  await shows('#summon', 'No such block in the state queue')
  await looksRight(t, 'watch')
  await page.unroute('**/summons?*')
  await shows('main', 'No question waits for its answer')

  for (let height = 1; height <= 9; height++)
    await verdicts.found({ ...disputed(height), reason: 'It breaks a rule' })
  await page.waitForSelector(at(disputed(9)), { timeout: 20_000 })
  t.equal(await page.locator('.dispute').count(), 10)
  await page.click('.pages button:text("Later")')
  await page.waitForSelector(at(hidden), { timeout: 20_000 })
  t.equal(await page.locator('.dispute').count(), 2)
  await page.click('.pages button:text("Earlier")')
  await page.waitForSelector(at(disputed(9)), { timeout: 20_000 })
}
