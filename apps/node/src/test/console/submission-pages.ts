import { blockVersion, encodedHeader } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { OpenQuestion } from '@ratatosk/client'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { submit } from '../node.js'
import { lock, scriptConfig, unlock, wants42 } from '../script-transactions.js'
import { devnetFunds, transferFrom } from '../transfer.js'
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

const bytes = (text: string) => Buffer.from(text, 'hex')

/** Rejected: by rule, with what to do; replay and drop. */
export async function rejectedPage(
  t: Test,
  { url, operate, page, shows, visit, giveToken, looksRight }: ConsoleNode,
): Promise<void> {
  const { transfer } = await transferFrom(5, 0)
  const tampered = transfer.cborHex.replace(/f5f6$/, 'f4f6')
  for (const cbor of [tampered, '84a0a0f5f6', '84a100a0a0f5f6']) await submit(url, cbor)
  const letters = async () => (await operate('/deadLetters?limit=500')).deadLetters
  await until(async () => (await letters()).length === 3, { what: 'three are rejected' })
  const counts = new Map<string, number>()
  for (const { code } of await letters()) counts.set(code, (counts.get(code) ?? 0) + 1)
  await visit('rejected')
  await shows('main', 'This needs the operator token')
  await giveToken()
  for (const [code, count] of counts)
    await page.waitForSelector(`#histogram [data-code="${code}"][data-count="${count}"]`)
  t.equal(await page.locator('#histogram li').count(), counts.size)
  await looksRight(t, 'rejected')

  await page.route('**/deadLetters?*', (route) => route.fulfill({ status: 502, body: '<html>Bad Gateway' }))
  const failed = page.waitForResponse((answer) => answer.status() === 502)
  const fourth = '84a101a0a0f5f6'
  await submit(url, fourth)
  await failed
  await page.waitForTimeout(300)
  t.equal(await page.locator('#histogram li').count(), counts.size, 'a failure does not replace the page')
  await page.unroute('**/deadLetters?*')

  await until(async () => (await letters()).length === 4, { what: 'a fourth is rejected' })
  const [{ digest }] = await letters()
  const letter = async () => (await letters()).find((each: { digest: string }) => each.digest === digest)
  const row = `[data-letter="${digest}"]`
  await page.click(`${row} button:text("Replay")`)
  t.match(await letter(), { replayedAs: undefined }, 'one click does nothing')
  await page.click(`${row} button:text("sure")`)
  await until(async () => (await letter()).count === 2, { what: 'it is rejected again' })
  await page.waitForSelector(`${row} button:text("Replay again")`)
  await page.click(`${row} button:text("Drop")`)
  await submit(url, fourth)
  await page.waitForSelector(`${row} [data-head=Times]:text-is("3")`)
  // Its row is still the same.
  await page.click(`${row} button:text("sure")`)
  await page.waitForSelector(row, { state: 'detached' })
  t.equal(await letter(), undefined)
}

/** Check: every failed predicate, and budgets. */
export async function checkPage(
  t: Test,
  { node, url, page, shows, visit, looksRight }: ConsoleNode,
): Promise<void> {
  await visit('check')
  const check = async (cbor: string) => {
    await page.fill('#cbor', cbor)
    await page.click('#check')
    await page.waitForSelector('#verdict')
    return page.getAttribute('#verdict', 'data-verdict')
  }
  const evaluate = async (body: string) =>
    JSON.parse(
      (await ask(`${url}/evaluate`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body }))
        .body,
    )
  const { transfer } = await transferFrom(5, 1)
  t.equal(await check(transfer.cborHex), 'valid')
  const bad = transfer.cborHex.replace(/f5f6$/, 'f4f6')
  t.equal(await check(bad), 'invalid')
  const { failures } = await evaluate(bad)
  for (const { predicate } of failures) await page.waitForSelector(`#failures [data-predicate=${predicate}]`)
  t.equal(await page.locator('#failures > li').count(), failures.length)
  t.equal(await node.store.placeOf(bytes(transfer.hash)), undefined, 'nothing is submitted')

  const config = await scriptConfig()
  const { transfer: locking, locked } = lock(config, devnetFunds(6, 0), wants42, 50_000_000n)
  await submit(url, locking.cborHex)
  await until(async () => (await node.store.placeOf(bytes(locking.hash))) !== undefined, {
    what: 'it is locked',
  })
  const units = { memory: 1_000_000n, steps: 1_000_000_000n }
  const unlocking = unlock(config, locked, 42n, units, devnetFunds(6, 1))
  t.equal(await check(unlocking.cborHex), 'valid')
  const [{ used }] = (await evaluate(unlocking.cborHex)).redeemers
  const cells = (await page.locator('#budgets td').allTextContents()).map((text) => text.replace(/\s/g, ''))
  t.same(cells.slice(2), [used.memory, '1000000', used.steps, '1000000000'])
  await looksRight(t, 'check')
  await submit(url, unlocking.cborHex)
  await visit(`tx/${unlocking.hash}`)
  await page.waitForSelector('[data-redeemer="spend 0"]:has-text("used")')
  const shown = (await page.textContent('[data-redeemer="spend 0"]'))?.replace(/\u202f/g, '')
  t.equal(shown, `used ${used.memory} memory, ${used.steps} steps; declared 1000000 memory, 1000000000 steps`)
  await looksRight(t, 'script')
  await visit('check')
  await page.fill('#cbor', 'no hex')
  await page.click('#check')
  await shows('form', 'This is not hex')
}
