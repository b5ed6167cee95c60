import { encodeAsk, encodeExpiry } from '@ratatosk/fraud'
import { encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import {
  askQuestions,
  endQuestion,
  openContracts,
  pruneBlocks,
  readQuestions,
  registerOperator,
} from '@ratatosk/protocol'
import { expect, onTestFinished, test } from 'vitest'
import {
  begin,
  bond,
  commitInTurn,
  keys,
  lovelaceOf,
  openScene,
  otherKeys,
  prove,
  root,
  summonsContracts,
} from '../../../protocol/dist/test/protocol-scene.js'
import { chunkQuestion } from './unavailable.js'

const penalty = 50_000_000n
const behind = 10

test('ten honest blocks behind a silent one cost their operator the fees, and the silent one the penalty', {
  timeout: 120_000,
}, async () => {
  const contracts = openContracts({ ...summonsContracts.parameters, slashPenalty: penalty }, 0)
  const scene = await openScene(contracts)
  onTestFinished(() => scene.devnet.close())
  const { run, wallet, otherWallet, queue, registry, validity, slots, devnet, clock, layer1 } = scene
  const scripts = await begin(scene, true)
  const other = otherKeys.payment
  await run(registerOperator(contracts, await registry(), other.hash, validity(), scripts), wallet, [other])
  /** Refunds go to the address of a key alone. */
  const all = async ({ address, payment }: typeof keys) => {
    const addresses = new Set([address, keyAddress(payment.hash, 0)].map(encodeBech32Address))
    const utxos = await Promise.all([...addresses].map((each) => layer1.utxosAt(each)))
    return utxos.flat().reduce((sum, utxo) => sum + lovelaceOf(utxo), 0n)
  }
  const ada = async () => ({
    silent: await all(keys),
    honest: await all(otherKeys),
    registry: lovelaceOf((await registry()).utxo),
    root: lovelaceOf((await queue()).roots[0]!.utxo),
  })
  const before = await ada()

  const { header, headerHash, built } = await commitInTurn(scene, scripts, { transactionsRoot: root(7) })
  const alone = lovelaceOf((await queue()).blocks[0]!.utxo)
  const wanted = chunkQuestion(header.transactionsRoot, 0)
  const { steps, ...subject } = wanted
  const question = { ...subject, headerHash, refund: keys.payment.hash }
  const validUntil = devnet.currentSlot() + 60n
  const redeemer = () => encodeAsk(header, [steps])
  const asking = { questions: [question], redeemer, validUntil, slots }
  const asked = await run(askQuestions(contracts, asking))
  const [open] = readQuestions(contracts, asked.produced)
  let honestFees = 0n
  for (let count = 0; count < behind; count++)
    honestFees += (await commitInTurn(scene, scripts, { operatorVkey: other.hash }, otherWallet)).built.fee

  // The silent operator takes everything that can be taken: verdict, bond, and the pruning.
  clock.time = Math.max(clock.time, Number(open!.question.deadline) + 1000)
  await devnet.produceBlock()
  const ended = await run(endQuestion(contracts, open!, encodeExpiry(0), slots))
  const verdict = ended.produced.find(({ output }) => output.value.assets.size > 0)!
  const linked = lovelaceOf((await queue()).blocks[0]!.utxo)
  const removed = await prove(scene, headerHash, { kind: 'held', utxo: verdict }, scripts, wallet)
  expect(removed.gain).toBe(bond + linked - penalty)
  const stale = await queue()
  expect(stale.blocks).toHaveLength(behind)
  const pruned = await run(pruneBlocks(contracts, stale, scripts))
  expect(
    pruned.produced.slice(1, 1 + behind).map((utxo) => [lovelaceOf(utxo), utxo.output.address.bytes]),
  ).toEqual(stale.blocks.map(({ utxo }) => [lovelaceOf(utxo), keyAddress(other.hash, 0).bytes]))
  expect((await queue()).blocks).toEqual([])

  const after = await ada()
  // A link takes room in the element before it.
  const room = linked - alone
  const kept = after.root - before.root
  expect(before.honest - after.honest).toBe(honestFees + room)
  expect(after.registry - before.registry).toBe(penalty - bond)
  const fees = built.fee + asked.fee + ended.fee + removed.built.fee + pruned.fee
  const loss = before.silent + bond - after.silent
  expect(loss).toBe(penalty + fees + lovelaceOf(verdict) + kept - room)
  expect(loss).toBeGreaterThan(2n * (before.honest - after.honest))
})
