import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { partsOf } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { type BlockVerdict, type Client, RejectedError } from '@ratatosk/client'
import { testGenesis } from '@ratatosk/devnet'
import { appliedTransaction, decodeTransaction, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { keysFromSeedPhrase, keysFromSigningKey, toOutput } from '@ratatosk/ledger/builder'
import { type RunningNode, readSettings, startNode } from '@ratatosk/node'
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { CommandError } from '../frame/errors.js'
import { ada } from '../frame/text.js'
import { devnetFunds, lovelaceIn, openBuilder, outputsOf, type SignedPayment } from '../layer2/layer2.js'
import { startLayer1 } from './layer1.js'
import type { Story } from './story.js'

/** A node of the network. */
interface Member {
  readonly node: RunningNode
  readonly client: Client
}

/** The nodes of a story about fraud, in this process, on a layer 1 of their own. */
interface DemoNetwork {
  /** The operator from the beginning. */
  readonly cheat: Member
  /** Becomes the second operator. */
  readonly honest: Member
  readonly watcher: Member
  /** The lovelace of an address on layer 1. */
  lovelaceOn1(address: string): bigint
  /** Stops everything, the nodes first. */
  close(): Promise<void>
}

/** Longer than the story takes: the false block must be removed before it can be merged. */
const maturityWindowMs = 600_000
/** The shortest turns that there are. */
const turnMs = 10_000

/**
 * Starts the network.
 *
 * @param folder of its stores
 * @param connect a client of a URL
 */
export async function startNetwork(
  folder: string,
  connect: (url: string) => Promise<Client>,
): Promise<DemoNetwork> {
  const closing: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end()
  }
  const second = generateMnemonic(wordlist, 256)
  try {
    const layer1 = await startLayer1(genesisWith([second]))
    closing.push(() => layer1.close())
    const { devnet } = layer1

    const start = async (name: string, own: Readonly<Record<string, string>>): Promise<Member> => {
      const settings = {
        DATA_DIR: join(folder, name),
        PORT: '0',
        LOG_LEVEL: 'fatal',
        ...layer1.settings,
        MATURITY_WINDOW_MS: String(maturityWindowMs),
        OPERATOR_TURN_MS: String(turnMs),
        AUTO_INIT: 'false',
        ...own,
      }
      const node = await startNode(readSettings(settings))
      closing.push(() => node.close())
      return { node, client: await connect(node.url) }
    }
    const [cheat, honest] = await Promise.all([
      start('cheat', {}),
      start('honest', { OPERATOR_SEED_PHRASE: second }),
    ])
    const peers = [cheat, honest].map(({ node }) => `${node.url}/archivist`)
    const watcher = await start('watcher', { NODE_ROLE: 'watcher', ARCHIVIST_PEERS: peers.join() })
    return {
      cheat,
      honest,
      watcher,
      lovelaceOn1: (address) =>
        devnet.utxos({ address }).reduce((sum, { output }) => sum + output.value.lovelace, 0n),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The outputs of an operator on layer 1, and the lovelace in each. */
const [outputs, lovelace] = [5, 1_000_000_000n]

/** The devnet's genesis, with ada for operators besides the devnet's own. */
export function genesisWith(seedPhrases: readonly string[]): ReturnType<typeof testGenesis> {
  const genesis = testGenesis()
  const own = seedPhrases.flatMap((phrase, place) => {
    const address = keysFromSeedPhrase(phrase, { networkId: 0 }).address.bytes
    const value = { lovelace, assets: new Map() }
    const output = Buffer.from(toOutput({ address, value, datum: { kind: 'none' } }).bytes).toString('hex')
    return Array.from({ length: outputs }, (_, index) => ({
      outref: `${'22'.repeat(32)}#${place * outputs + index}`,
      output,
    }))
  })
  return { ...genesis, utxos: [...genesis.utxos, ...own] }
}

/** Generous, because a loaded machine is slow. */
const timeoutMs = 120_000
/** The owner's last payment, and the reserve for a transaction's fee. */
const [payment, reserve] = [100_000_000n, 2_000_000n]

interface FraudReport {
  readonly theft: {
    readonly txHash: string
    /** Decimal. */
    readonly lovelace: string
    /** The rules by which the honest node refuses it. */
    readonly predicates: readonly string[]
  }
  readonly verdict: BlockVerdict
  /** Milliseconds from the time when the block was on layer 1 until the watcher saw that it was removed. */
  readonly removedAfterMs: number
  /** Lovelace, decimal: the bond of the cheat, and what the watcher's wallet has gained. */
  readonly bond: string
  readonly gain: string
  /** Header hash of the next block, which the honest operator committed. */
  readonly nextBlock: string
}

/**
 * Has an operator commit a theft; a watcher proves it, and layer 1 removes the block and takes the bond.
 * @throws CommandError if an answer is not as expected
 */
export async function runFraud(network: DemoNetwork, story: Story): Promise<FraudReport> {
  const { cheat, honest } = network
  const { say, step } = story

  const stake = await admitOperators(network, story)

  step('The ledger before')
  const builder = await openBuilder(honest.client)
  const funds = await devnetFunds(honest.client, payment + reserve)
  if (funds === undefined) throw new CommandError('CLI_NO_FUNDS', 'No devnet wallet has enough.')
  const owner = funds.from.addressText
  const before = await outputsOf(honest.client, owner)
  say(`GET /utxos of the honest node: a user has ${ada(lovelaceIn(before))}.`)

  step("The lie: a payment of the user's ada to the operator, which the user has not signed")
  const thief = keysFromSigningKey(randomBytes(32).toString('hex'), { networkId: 0 }).addressText
  const lovelace = lovelaceIn([funds.utxo]) - reserve
  const { transaction, txHash } = await builder.pay({ ...funds, to: thief, lovelace })
  const theft = withoutSignatures(transaction)
  const predicates = await refuseTheft(theft, txHash)

  step('The operator commits it all the same')
  await acceptUnchecked(cheat.node, theft)
  const { block } = await cheat.client.awaitTx(txHash, { finality: 'committed', timeoutMs, pollMs: 100 })
  if (block === undefined) throw new CommandError('CLI_DEMO', 'The theft is in no block.')
  const committedAt = performance.now()
  say(`block ${block.headerHash}`)
  say('Layer 1 has accepted its header, which only has the hashes of what is in the block.')
  const stolen = lovelaceIn(await outputsOf(cheat.client, thief))
  say(`By the ledger of the operator, the user has lost ${ada(stolen)} to it.`)

  const { verdict, gain } = await showRemoval(network, stake, block.headerHash, story)
  const removedAfterMs = Math.round(performance.now() - committedAt)
  say(`All of this took ${(removedAfterMs / 1000).toFixed(1)} s from the commitment.`)

  step('The ledger after')
  const { headers } = await honest.client.getStateQueue()
  if (headers.length > 0) throw new CommandError('CLI_DEMO', 'The state queue still has a block.')
  say('GET /stateQueue: layer 1 has no block.')
  const after = await outputsOf(honest.client, owner)
  if (namesOf(after) !== namesOf(before)) throw new CommandError('CLI_DEMO', "The user's outputs changed.")
  say(`GET /utxos: the user has ${ada(lovelaceIn(after))}, in the same outputs as before.`)

  step('The user pays with the output that was stolen, and the honest operator commits the next block')
  const nextBlock = await payAndCommit(await builder.pay({ ...funds, to: thief, lovelace: payment }))
  return {
    theft: { txHash, lovelace: String(lovelace), predicates },
    verdict,
    removedAfterMs,
    bond: String(stake.bond),
    gain: String(gain),
    nextBlock,
  }

  /** Submits the theft to the honest node. @returns the rules by which it is refused */
  async function refuseTheft(transaction: string, txHash: string): Promise<readonly string[]> {
    const { id: submissionId } = await honest.client.submit(transaction)
    const options = { submissionId, timeoutMs }
    const result: unknown = await honest.client.awaitTx(txHash, options).catch((error: unknown) => error)
    if (!(result instanceof RejectedError))
      throw new CommandError('CLI_DEMO', 'The honest node has not refused the theft.')
    say(`transaction ${txHash}`)
    say('The honest node refuses it:')
    for (const { predicate, message } of result.failures) say(`${predicate}: ${message}`)
    return result.failures.map(({ predicate }) => predicate)
  }

  /** @returns the header hash of the block */
  async function payAndCommit({ transaction, txHash }: SignedPayment): Promise<string> {
    const { id: submissionId } = await honest.client.submit(transaction)
    await honest.client.awaitTx(txHash, { submissionId, timeoutMs })
    say(`GET /tx/status: the payment of ${ada(payment)} is accepted`)
    say("It is committed in the honest operator's next turn …")
    const { block } = await honest.client.awaitTx(txHash, { finality: 'committed', timeoutMs })
    if (block === undefined) throw new CommandError('CLI_DEMO', 'The payment is in no block.')
    say(`block ${block.headerHash}`)
    return block.headerHash
  }
}

/** The references of outputs, in order. */
const namesOf = (utxos: readonly Utxo[]): string =>
  utxos
    .map(({ reference }) => outputReferenceKey(reference))
    .sort()
    .join()

/** Generous, because a loaded machine is slow. */
const pollMs = 100

interface Removal {
  readonly verdict: BlockVerdict
  /** The gain of the watcher's wallet, in lovelace. */
  readonly gain: bigint
}

/** Shows the proof, the removal and the slashing. @throws CommandError if they fail or take too long */
async function showRemoval(
  { honest, watcher, lovelaceOn1 }: DemoNetwork,
  { cheatKey, bond, watcherHas }: Stake,
  headerHash: string,
  { say, step }: Story,
): Promise<Removal> {
  step('The watcher gets the body of the block from the operator, and judges it')
  const found = await verdictThat('the watcher finds the fraud', () => true)
  say('GET /verdicts: the block is invalid')
  say(found.reason)

  step('The proof')
  const verdict = await verdictThat('the block is removed', ({ state }) => state === 'removed')
  const { policy, fraud, transactions } = verdict
  say(`It shows the fraud \`${fraud}\` to a script of layer 1, the ${policy} policy. No one is trusted.`)
  const fees = transactions.reduce((sum, { fee }) => sum + BigInt(fee), 0n)
  for (const { stage, txHash, fee } of transactions) say(`${stage} ${txHash}, for a fee of ${ada(fee)}`)

  step('The slash')
  // The honest node may have read the registry a moment before.
  const isSlashed = await soon(async () => {
    const { operators } = await honest.client.listOperators()
    return operators.every(({ operatorKey }) => operatorKey !== cheatKey) || undefined
  })
  if (isSlashed === undefined) throw new CommandError('CLI_DEMO', 'The operator is not slashed.')
  say('GET /operators: the same transaction has removed the block and its operator.')
  const gain = lovelaceOn1(watcher.node.watcherAddress ?? '') - watcherHas
  if (gain < bond - fees) throw new CommandError('CLI_DEMO', 'The watcher does not have the bond.')
  say(`The watcher has ${ada(gain)} more: the bond of ${ada(bond)} and the ada of the block, less the fee.`)
  return { verdict, gain }

  async function verdictThat(what: string, isSo: (verdict: BlockVerdict) => boolean): Promise<BlockVerdict> {
    const found = await soon(async () => {
      const { verdicts } = await watcher.client.listVerdicts()
      const verdict = verdicts.find((each) => each.headerHash === headerHash)
      if (verdict !== undefined && isSo(verdict)) return verdict
      if (verdict?.state === 'unprovable')
        throw new CommandError('CLI_DEMO', `The watcher proves nothing: ${verdict.reason}`)
      return undefined
    })
    if (found !== undefined) return found
    throw new CommandError('CLI_DEMO', `The demo waited ${timeoutMs / 1000} s until ${what}.`)
  }

  /** The first answer that is defined; undefined if none comes in time. */
  async function soon<Found>(read: () => Promise<Found | undefined>): Promise<Found | undefined> {
    for (const end = performance.now() + timeoutMs; performance.now() < end; await pause(pollMs)) {
      const found = await read()
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** A signed transaction, in hex, without its signatures. */
function withoutSignatures(transaction: string): string {
  const { body } = partsOf(fromHex(transaction))
  // An array of body, empty witness set, true and null.
  return toHex(concatBytes(Uint8Array.of(0x84), body, Uint8Array.of(0xa0, 0xf5, 0xf6)))
}

/** Has a node accept a transaction without any validation: all else that it does with it is honest. */
async function acceptUnchecked({ store }: RunningNode, transaction: string): Promise<void> {
  const accepted = appliedTransaction(decodeTransaction(fromHex(transaction)))
  await store.withLedger((ledger) => ledger.apply({ transactions: [accepted] }))
}

interface Stake {
  /** Key hash of the operator that cheats. */
  readonly cheatKey: string
  /** Its bond, in lovelace. */
  readonly bond: bigint
  /** The lovelace of the watcher's wallet on layer 1. */
  readonly watcherHas: bigint
}

/** Initialises the rollup with the cheat as its operator, and registers the honest operator. */
async function admitOperators(
  { cheat, honest, watcher, lovelaceOn1 }: DemoNetwork,
  { say, step }: Story,
): Promise<Stake> {
  step('Three nodes on one devnet, each with a ledger of its own')
  await cheat.client.init()
  const [first] = (await honest.client.listOperators()).operators
  if (first === undefined) throw new CommandError('CLI_DEMO', 'No operator is registered.')
  say(`an operator     ${cheat.node.url}, with a bond of ${ada(first.bond)} on layer 1`)
  await honest.client.init()
  const { operators } = await honest.client.listOperators()
  const second = operators.find(({ operatorKey }) => operatorKey !== first.operatorKey)
  if (second === undefined) throw new CommandError('CLI_DEMO', 'The second operator is not registered.')
  const from = new Date(second.activeFrom).toLocaleTimeString()
  say(`an honest one   ${honest.node.url}, with the same bond; its turns begin at ${from}`)
  const watcherHas = lovelaceOn1(watcher.node.watcherAddress ?? '')
  say(`a watcher       ${watcher.node.url}, with ${ada(watcherHas)} for fees`)
  return { cheatKey: first.operatorKey, bond: BigInt(first.bond), watcherHas }
}
