import { equalBytes, toHex } from '@ratatosk/cbor'
import { encodeRegistryDatum, type RegisteredOperator } from '@ratatosk/contracts'
import type { DraftOutput, TransactionDraft } from '@ratatosk/ledger/builder'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { registerOperator, slashOperator } from './registry-drafts.js'
import { pruneBlocks, type RemovalByVerdict, removeBlock, removeInvalidBlock } from './removal-drafts.js'
import { type BlockElement, spendElement } from './state-queue.js'
import {
  begin,
  bond,
  commit,
  commitInTurn,
  contracts,
  convict,
  invalidRoot,
  keys,
  openJudge,
  openScene,
  operator,
  otherKeys,
  verdictPolicy,
} from './test/protocol-scene.js'

const { queue: queueScript, registry: registryScript } = contracts.scripts
const invalid = { transactionsRoot: invalidRoot }
const guilty = otherKeys.payment.hash

/** The first operator commits an honest block, the second fraud, and the first another honest block. */
async function openRollup() {
  const scene = await openScene()
  const referenceScripts = await begin(scene, true)
  const { run, otherWallet, layer1 } = scene
  const honest = await commit(scene, referenceScripts)
  const registry = await scene.registry()
  const joining = registerOperator(contracts, registry, guilty, scene.validity(), referenceScripts)
  await run(joining, otherWallet, [keys.payment])
  const change = { ...invalid, operatorVkey: guilty }
  const fraud = await commitInTurn(scene, referenceScripts, change, otherWallet)
  const last = await commitInTurn(scene, referenceScripts)

  const { datum } = await scene.registry()
  const empty = encodeRegistryDatum({ ...datum, operators: [] })
  const { address } = registryScript
  const forged = await run({ outputs: [{ address, datum: { kind: 'inline', data: empty } }] }, otherWallet)
  const [forgedRegistry] = await layer1.utxosByReferences([forged.produced[0]!.reference])
  const wanted: RemovalByVerdict = {
    queue: await scene.queue(),
    registry: await scene.registry(),
    headerHash: fraud.headerHash,
    verdict: convict(fraud.header),
    referenceScripts,
  }
  return { scene, honest, fraud, last, wanted, forgedRegistry: forgedRegistry! }
}

type Rollup = Awaited<ReturnType<typeof openRollup>>

const remove = ({ wanted }: Rollup, change: Partial<RemovalByVerdict> = {}): TransactionDraft =>
  removeInvalidBlock(contracts, { ...wanted, ...change })

/** The queue with another datum of the fraud than layer 1 has. */
const queueWith = (
  { wanted: { queue, headerHash } }: Rollup,
  change: (datum: BlockElement['datum']) => BlockElement['datum'],
) => ({
  ...queue,
  blocks: queue.blocks.map((block) =>
    equalBytes(block.headerHash, headerHash) ? { ...block, datum: change(block.datum) } : block,
  ),
})

type Operators = readonly RegisteredOperator[]

/** The registry with other operators than layer 1 has. */
const registryWith = ({ wanted: { registry } }: Rollup, change: (operators: Operators) => Operators) => ({
  ...registry,
  datum: { ...registry.datum, operators: change(registry.datum.operators) },
})

const isGuilty = ({ vkey }: RegisteredOperator) => equalBytes(vkey, guilty)
const innocent = (operators: Operators) => operators.filter((each) => !isGuilty(each))
const guiltyWith = (change: Partial<RegisteredOperator>) => (operators: Operators) =>
  operators.map((each) => (isGuilty(each) ? { ...each, ...change } : each))

/** The good removal, whose first output pays the honest block back otherwise. */
function payBack(rollup: Rollup, change: Partial<DraftOutput>): TransactionDraft {
  const draft = remove(rollup)
  const [predecessor, ...others] = draft.outputs!
  return { ...draft, outputs: [{ ...predecessor!, ...change }, ...others] }
}

/** The good removal with other tokens under one policy; none leaves the policy out. */
function minting(draft: TransactionDraft, policy: string, tokens?: ReadonlyMap<string, bigint>) {
  const { mint = [] } = draft
  const kept = mint.flatMap((each) =>
    each.policy !== policy ? [each] : tokens ? [{ ...each, assets: tokens }] : [],
  )
  return { ...draft, mint: kept }
}

const verdict = toHex(verdictPolicy.hash)

const attempts: readonly [what: string, refuser: string, draft: (rollup: Rollup) => TransactionDraft][] = [
  [
    'a verdict that the policy does not give, against the honest block',
    'verdict',
    (rollup) =>
      remove(rollup, { headerHash: rollup.honest.headerHash, verdict: convict(rollup.honest.header) }),
  ],
  [
    'a verdict against the header that the honest block might have had',
    'verdict',
    (rollup) => {
      const { headerHash, header } = rollup.honest
      return remove(rollup, { headerHash, verdict: convict({ ...header, ...invalid }) })
    },
  ],
  [
    'the verdict against the fraud, for the honest block before it',
    'verdict',
    (rollup) => remove(rollup, { headerHash: rollup.honest.headerHash }),
  ],
  [
    'the verdict against the fraud, for the honest block behind it',
    'verdict',
    (rollup) => remove(rollup, { headerHash: rollup.last.headerHash }),
  ],
  [
    'a second verdict, against the honest block',
    'verdict',
    (rollup) =>
      minting(
        remove(rollup),
        verdict,
        new Map([rollup.fraud, rollup.honest].map(({ headerHash }) => [toHex(headerHash), 1n])),
      ),
  ],
  [
    'the verdict against the fraud, shown with the removal of the honest block',
    'queue',
    (rollup) => {
      const { headerHash } = rollup.honest
      const draft = remove(rollup, { headerHash })
      return minting(draft, verdict, new Map([[toHex(rollup.fraud.headerHash), 1n]]))
    },
  ],
  ['no verdict', 'queue', (rollup) => ({ ...minting(remove(rollup), verdict), scripts: [] })],
  [
    'the slash of the honest operator',
    'queue',
    (rollup) => {
      const lie = ({ header, ...datum }: BlockElement['datum']) => ({
        ...datum,
        header: { ...header, operatorVkey: operator },
      })
      return remove(rollup, { queue: queueWith(rollup, lie) })
    },
  ],
  [
    'the payment of both bonds',
    'registry',
    (rollup) => remove(rollup, { registry: registryWith(rollup, guiltyWith({ bond: 2n * bond })) }),
  ],
  [
    'the deletion of both operators',
    'registry',
    (rollup) => remove(rollup, { registry: registryWith(rollup, (operators) => operators.filter(isGuilty)) }),
  ],
  [
    'the slash of an active operator as one who has retired',
    'registry',
    (rollup) => remove(rollup, { registry: registryWith(rollup, guiltyWith({ activeUntil: 0n })) }),
  ],
  [
    'the claim that a registered operator was slashed already',
    'queue',
    (rollup) => remove(rollup, { registry: registryWith(rollup, innocent) }),
  ],
  [
    'the same claim, by an output at the address of the registry',
    'queue',
    (rollup) => {
      const { datum } = registryWith(rollup, innocent)
      return remove(rollup, { registry: { utxo: rollup.forgedRegistry, datum } })
    },
  ],
  [
    'the same claim, by such an output beside the registry',
    'queue',
    (rollup) => {
      const draft = remove(rollup, { registry: registryWith(rollup, innocent) })
      return { ...draft, referenceInputs: [...draft.referenceInputs!, rollup.forgedRegistry] }
    },
  ],
  [
    'a removal in the name of the administrator',
    'queue',
    (rollup) => {
      const { queue, referenceScripts } = rollup.wanted
      return {
        ...removeBlock(contracts, queue, rollup.honest.headerHash, referenceScripts),
        requiredSigners: [],
      }
    },
  ],
  [
    'a lovelace less for the honest block',
    'queue',
    (rollup) => {
      const [{ lovelaceAtLeast } = {}] = remove(rollup).outputs!
      return payBack(rollup, { lovelace: lovelaceAtLeast! - 1n })
    },
  ],
  [
    'the honest block at the address of the prover',
    'queue',
    (rollup) => payBack(rollup, { address: otherKeys.address.bytes }),
  ],
  [
    'an honest block that still links to the fraud',
    'queue',
    (rollup) => {
      const link = rollup.fraud.headerHash
      return remove(rollup, { queue: queueWith(rollup, (datum) => ({ ...datum, link })) })
    },
  ],
  [
    'the removal of the block behind the fraud by the same verdict',
    'queue',
    (rollup) => {
      const draft = remove(rollup)
      const { utxo } = rollup.wanted.queue.blocks[2]!
      const burned = rollup.wanted.queue.blocks.slice(1).map(({ utxo }) => {
        const [name] = utxo.output.value.assets.get(queueScript.policy)!.keys()
        return [name!, -1n] as const
      })
      return {
        ...minting(draft, queueScript.policy, new Map(burned)),
        inputs: [...draft.inputs!, spendElement(utxo)],
      }
    },
  ],
  [
    'the pruning of a block that follows the one before it',
    'queue',
    (rollup) => {
      const lie = ({ header, ...datum }: BlockElement['datum']) => ({
        ...datum,
        header: { ...header, prevHeaderHash: new Uint8Array(28) },
      })
      return pruneBlocks(contracts, queueWith(rollup, lie), rollup.wanted.referenceScripts)
    },
  ],
  [
    'a slash without a removal',
    'registry',
    ({ wanted: { registry, referenceScripts } }) => {
      const { input, output } = slashOperator(contracts, registry, registry.datum.operators.find(isGuilty)!)
      const own = { address: otherKeys.address.bytes }
      return { referenceInputs: referenceScripts!, inputs: [input], outputs: [own, output] }
    },
  ],
]

let rollup: Rollup
let refuserOf: ReturnType<typeof openJudge>
beforeAll(async () => {
  rollup = await openRollup()
  refuserOf = openJudge(rollup.scene, otherKeys)
})
afterAll(() => rollup.scene.devnet.close())

it('takes the removal of the fraud', async () => {
  expect(await refuserOf(remove(rollup))).toBeUndefined()
})

it.each(attempts)('refuses %s, by the script of the %s', async (_what, refuser, draft) => {
  expect(await refuserOf(draft(rollup))).toBe(refuser)
})
