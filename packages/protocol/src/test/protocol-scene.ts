import { readFileSync } from 'node:fs'
import { blockVersion, encodeHeader, genesisHeaderHash, type Header, headerHash } from '@ratatosk/block'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { ledgerFraudScript, type PlutusScript, renouncedAdministrator } from '@ratatosk/contracts'
import { createDevnet, testWallets } from '@ratatosk/devnet'
import { createDevnetLayer1, openWallet } from '@ratatosk/layer1'
import {
  outputReferenceKey,
  scriptHash,
  slotToTime,
  type TransactionOutput,
  type Utxo,
} from '@ratatosk/ledger'
import {
  isWalletError,
  keysFromSeedPhrase,
  nativeScript,
  type SigningKey,
  type TransactionDraft,
  type WalletKeys,
} from '@ratatosk/ledger/builder'
import { createEvaluator, type EvaluationResult } from '@ratatosk/ledger/plutus'
import { type ContractParameters, openContracts, publishScripts } from '../contracts.js'
import { commitBlock, initQueue } from '../queue-drafts.js'
import { initRegistry, readRegistry, registerOperator } from '../registry-drafts.js'
import { removeInvalidBlock, type Verdict } from '../removal-drafts.js'
import { readStateQueue } from '../state-queue.js'
import { summonsTerms } from '../summons.js'

const file = new URL('../../../contracts/src/test/verdict.json', import.meta.url)
const { program }: { program: string } = JSON.parse(readFileSync(file, 'utf8'))
const flat = fromHex(program)
const bytes = new CborWriter(flat.length + 5).bytes(flat).toBytes()

/** The test policy of `@ratatosk/contracts`: it convicts headers with {@link invalidRoot}. */
export const verdictPolicy: PlutusScript = {
  language: 'PlutusV3',
  bytes,
  hash: scriptHash('PlutusV3', bytes),
}

/** A block with this transactions root is fraud. */
export const invalidRoot = new Uint8Array(32).fill(3)

export const convict = (header: Header): Verdict => ({
  kind: 'minted',
  policy: verdictPolicy,
  redeemer: encodeHeader(header),
})

const limits = { requestTimeoutMs: 150, callTimeoutMs: 5000, attempts: 2, backoffMs: 1, pollMs: 20 }

export const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 0 })

/** One per test worker, with which it ends: its threads are slow to start. */
export const evaluator = createEvaluator({ threads: 1 })

const genesisTime = 1_700_000_000_000
export const operator = keys.payment.hash
export const otherKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 1 })
export const turnLength = 60_000n

export const bond = 500_000_000n

const parameters: ContractParameters = {
  protocol: 'RATATOSK',
  administrator: { kind: 'key', hash: operator },
  // The first output of the scene's genesis.
  deploymentOutput: { transactionId: new Uint8Array(32).fill(0x11), index: 0 },
  permissioned: true,
  maturityWindow: 30_000n,
  turnLength,
  bond,
  releaseDelay: 90_000n,
  maxOperators: 10n,
  verdictPolicies: [verdictPolicy],
}

export const contracts = openContracts(parameters, 0)

/** The same rollup with the policy of fraud proofs. */
export const provableContracts = openContracts({ ...parameters, verdictPolicies: [ledgerFraudScript()] }, 0)

export const summonsContracts = openContracts(
  {
    ...parameters,
    maturityWindow: 3_600_000n,
    releaseDelay: 3_660_000n,
    verdictPolicies: [ledgerFraudScript()],
    summons: { ...summonsTerms(3_600_000n), period: 600_000n },
  },
  0,
)

/** A policy of the first operator's key: assets that are bridged. */
export const bridgedScript = nativeScript(JSON.stringify({ type: 'sig', keyHash: toHex(operator) }))
export const bridgedPolicy = toHex(scriptHash('native', bridgedScript.bytes))

/** The same rollup with a bridge. */
export const bridgedContracts = openContracts(
  {
    ...parameters,
    bridge: {
      eventWait: 15_000n,
      bridged: [fromHex(bridgedPolicy)],
      reserveMin: 5_000_000n,
      payoutFee: 300_000n,
    },
  },
  0,
)

/** The same rollup without an administrator, and with a penalty. */
export const freeContracts = openContracts(
  {
    ...parameters,
    administrator: renouncedAdministrator,
    permissioned: false,
    slashPenalty: 100_000_000n,
  },
  0,
)

export type Scene = Awaited<ReturnType<typeof openScene>>

/** A devnet with the wallets of two operators, the first of whom is the administrator. */
export async function openScene(own = contracts) {
  const clock = { time: genesisTime + 1_000_000, now: () => clock.time }
  const utxos = [keys, keys, keys, otherKeys].map(({ address }, index) => ({
    outref: `${'11'.repeat(32)}#${index}`,
    output: toHex(
      new CborWriter().map(2).uint(0).bytes(address.bytes).uint(1).uint(10_000_000_000n).toBytes(),
    ),
  }))
  const genesis = { startTime: genesisTime, networkMagic: 42, utxos }
  const devnet = await createDevnet({ blockEveryMs: 0, clock, evaluator, genesis })
  const layer1 = createDevnetLayer1(devnet, limits)
  const wallet = openWallet({ layer1, keys, evaluator })
  const otherWallet = openWallet({ layer1, keys: otherKeys, evaluator })
  return {
    contracts: own,
    clock,
    devnet,
    layer1,
    wallet,
    otherWallet,
    slots: devnet.slots,
    /** Sends, and makes a block. */
    async run(draft: TransactionDraft, by = wallet, cosigners: readonly SigningKey[] = []) {
      const built = await by.send(draft, { cosigners })
      clock.time += 1000
      await devnet.produceBlock()
      await layer1.await(built.id)
      return built
    },
    /** The validity interval of a change of the operators: from now on, for ten slots. */
    validity: () => ({
      validFrom: devnet.currentSlot(),
      validUntil: devnet.currentSlot() + 10n,
      slots: devnet.slots,
    }),
    queue: async () => readStateQueue(own, await layer1.utxosByPolicy(own.scripts.queue.policy)),
    async registry() {
      const found = readRegistry(own, await layer1.utxosByUnit(own.scripts.registry.unit))
      if (found === undefined) throw new Error('there is no registry')
      return found
    },
    /** To the beginning of a turn: the whole validity of a commit lies in one. */
    nextTurn() {
      clock.time = (Math.floor(clock.time / Number(turnLength)) + 1) * Number(turnLength)
    },
  }
}

export const root = (byte: number) => new Uint8Array(32).fill(byte)

export const stateAt = (endTime: bigint, utxoRoot: Uint8Array = root(1)) => ({
  headerHash: genesisHeaderHash(),
  prevHeaderHash: genesisHeaderHash(),
  utxoRoot,
  startTime: endTime,
  endTime,
  blockVersion,
})

export async function beginRegistry({ run, layer1, contracts }: Scene): Promise<void> {
  const [deploymentOutput] = await layer1.utxosByReferences([contracts.parameters.deploymentOutput])
  await run(initRegistry(contracts, deploymentOutput!))
}

/** A registry with one operator, and a queue. Returns the outputs of published scripts. */
export async function begin(
  scene: Scene,
  publishes = false,
  utxoRoot?: Uint8Array,
): Promise<readonly Utxo[]> {
  const { run, registry, devnet, slots, validity, contracts } = scene
  await beginRegistry(scene)
  const published = publishes ? await run(publishScripts(contracts)) : undefined
  const referenceScripts = published?.produced.slice(0, 2) ?? []
  await run(registerOperator(contracts, await registry(), operator, validity(), referenceScripts))
  const state = stateAt(slotToTime(slots, devnet.currentSlot()), utxoRoot)
  await run(initQueue(contracts, await registry(), state, referenceScripts))
  return referenceScripts
}

/** A block after the last one, ending twenty seconds from now. */
export async function nextHeader({ queue, devnet, slots }: Scene): Promise<Header> {
  const { roots, blocks } = await queue()
  const last = blocks.at(-1)
  const state = roots[0]!.datum.state
  return {
    prevUtxosRoot: last?.datum.header.utxosRoot ?? state.utxoRoot,
    utxosRoot: root(10 + blocks.length),
    transactionsRoot: root(0),
    depositsRoot: root(0),
    withdrawalsRoot: root(0),
    startTime: last?.datum.header.endTime ?? state.endTime,
    endTime: slotToTime(slots, devnet.currentSlot() + 20n),
    prevHeaderHash: last ? headerHash(last.datum.header) : state.headerHash,
    operatorVkey: operator,
    blockVersion,
  }
}

/** Commits the next block at the beginning of a turn. `change`: what differs in its header. */
export async function commit(
  scene: Scene,
  referenceScripts: readonly Utxo[] = [],
  change: Partial<Header> = {},
  by = scene.wallet,
) {
  scene.nextTurn()
  const header = { ...(await nextHeader(scene)), ...change }
  const { slots, devnet, contracts } = scene
  const [queue, registry] = [await scene.queue(), await scene.registry()]
  const slot = devnet.currentSlot()
  const built = await scene.run(
    commitBlock(contracts, { queue, registry, header, slot, slots, referenceScripts }),
    by,
  )
  return { built, header, headerHash: headerHash(header) }
}

/** Commits the next block in the first turn of its operator. */
export async function commitInTurn(...block: Parameters<typeof commit>): ReturnType<typeof commit> {
  for (;;) {
    try {
      return await commit(...block)
    } catch (error) {
      if ((error as { code?: string }).code !== 'PROTOCOL_NOT_SCHEDULED') throw error
    }
  }
}

export const lovelaceOf = ({ output }: Utxo): bigint => output.value.lovelace

/**
 * Removes a block by a stranger's verdict, unless `by`; returns the transaction and the gain before the fee.
 */
export async function prove(
  { run, queue, registry, otherWallet, contracts }: Scene,
  headerHash: Uint8Array,
  verdict: Verdict,
  referenceScripts: readonly Utxo[],
  by = otherWallet,
) {
  const wanted = { queue: await queue(), registry: await registry(), headerHash, verdict, referenceScripts }
  const before = (await by.balance()).lovelace
  const built = await run(removeInvalidBlock(contracts, wanted), by)
  return { built, gain: (await by.balance()).lovelace - before + built.fee }
}

/** Finds the script that refuses a draft: `queue`, `registry`, `bridge`, … ; undefined if valid. */
export function openJudge({ contracts: { scripts, bridge }, layer1 }: Scene, keys: WalletKeys) {
  const names = new Map([
    [scripts.queue.policy, 'queue'],
    [scripts.registry.policy, 'registry'],
    [toHex(verdictPolicy.hash), 'verdict'],
    ...(bridge
      ? ([
          [bridge.place.policy, 'bridge'],
          [bridge.events.policy, 'events'],
        ] as const)
      : []),
  ])
  let refuser: string | undefined
  const evaluate: typeof evaluator.evaluate = async (transaction, utxos, parameters, slots) => {
    const result = await evaluator.evaluate(transaction, utxos, parameters, slots)
    const { inputs, mint } = transaction.body
    const spent = inputs.map((input) => scriptOf(utxos.get(outputReferenceKey(input))))
    refuser = names.get(failedOf(result, spent, [...mint.keys()].sort()) ?? '')
    return result
  }
  const wallet = openWallet({ layer1, keys, evaluator: { evaluate } })
  return async (draft: TransactionDraft): Promise<string | undefined> => {
    try {
      wallet.release((await wallet.build(draft)).id)
      return undefined
    } catch (error) {
      const byScript = isWalletError(error) && error.failures?.[0]?.predicate === 'ScriptFailure'
      if (!byScript || refuser === undefined) throw error
      return refuser
    }
  }
}

function scriptOf(output: TransactionOutput | undefined): string {
  return output && 'payment' in output.address ? toHex(output.address.payment.hash) : ''
}

function failedOf({ redeemers }: EvaluationResult, spent: readonly string[], policies: readonly string[]) {
  const failed = redeemers.find(({ outcome }) => outcome.kind === 'ScriptFailure')
  return failed && (failed.purpose === 'mint' ? policies : spent)[failed.index]
}
