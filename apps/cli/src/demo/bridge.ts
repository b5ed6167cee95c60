import { randomBytes } from 'node:crypto'
import { fromHex, toHex } from '@ratatosk/cbor'
import type { Client } from '@ratatosk/client'
import { type Devnet, testWallets } from '@ratatosk/devnet'
import { encodeUtxo, type Transaction } from '@ratatosk/ledger'
import { keysFromSeedPhrase, keysFromSigningKey, type WalletKeys } from '@ratatosk/ledger/builder'
import type { Layer1Outputs } from '../bridge/layer1-outputs.js'
import { credited, makeDeposit, makeWithdrawal, paidOut } from '../bridge/transfers.js'
import { CommandError } from '../frame/errors.js'
import { ada } from '../frame/text.js'
import { lovelaceIn, openBuilder, outputsOf } from '../layer2/layer2.js'
import type { Story } from './story.js'

const [deposit, payment, withdrawal] = [100_000_000n, 20_000_000n, 60_000_000n]
/** Of the test wallets: no node uses its account. */
const depositor = 5
/** Generous, because a loaded machine is slow. */
const timeoutMs = 120_000

/** A transaction of layer 1 on the way of the money. */
interface Layer1Step {
  readonly what: 'deposit' | 'commit' | 'merge' | 'payout'
  readonly txHash: string
  /** Hex. */
  readonly cbor: string
}

interface BridgeReport {
  readonly deposit: { readonly id: string; readonly outref: string; readonly creditedFrom: string }
  readonly payment: { readonly txHash: string }
  readonly withdrawal: { readonly outref: string; readonly txHash: string; readonly headerHash: string }
  /** Lovelace, decimal. */
  readonly arrived: string
  /** In order. */
  readonly layer1: readonly Layer1Step[]
  /** CBOR in hex of the other transactions whose outputs these spend or read, but for the genesis. */
  readonly earlier: readonly string[]
  /** Slot 0 of layer 1 in POSIX milliseconds, and the length of a slot. */
  readonly slots: { readonly zeroTime: number; readonly slotLength: number }
  /** Milliseconds from the first to the last step. */
  readonly tookMs: number
}

/**
 * Deposits ada from layer 1, spends of them on layer 2, and withdraws the most of the rest.
 * @throws CommandError if an answer is not as expected
 */
export async function runBridge(client: Client, devnet: Devnet, story: Story): Promise<BridgeReport> {
  const { say, step } = story
  const layer1: Layer1Step[] = []

  step('A devnet, a node, and the bridge between them')
  await client.init()
  const bridge = await client.getBridge()
  say(`The bridge is a script of layer 1: ${bridge.address}`)
  const began = performance.now()

  step(`POST /bridge/draft and /bridge/submit: ${ada(deposit)} from layer 1 to a new key on layer 2`)
  const from = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: depositor })
  const own = newKeys()
  const made = await makeDeposit(client, outputsIn(devnet), {
    from,
    to: own.address,
    lovelace: deposit,
    units: new Map(),
  })
  say('The node drafted the transaction. The demo compared its datum and its outputs with what was asked,')
  say(`signed it, and had the node send it, for a fee of ${ada(made.fee)}.`)
  note('deposit', made.txHash)
  say(`The block of ${clockOf(made.creditedFrom)} credits it: until then, layer 1 could still lose it.`)

  step('GET /deposits: the next block credits it')
  const outref = await credited(client, made.id, timeoutMs)
  const received = await outputsOf(client, own.addressText)
  if (lovelaceIn(received) !== deposit) throw new CommandError('CLI_DEMO', 'The deposit is not on layer 2.')
  say(`GET /utxos: the key has ${ada(lovelaceIn(received))} on layer 2, in output ${outref}`)

  step(`POST /submit: ${ada(payment)} to a friend, on layer 2`)
  const builder = await openBuilder(client)
  const friend = newKeys().addressText
  const paid = await builder.build({ outputs: [{ address: friend, lovelace: payment }] }, own, received)
  const { id: submissionId } = await client.submit(paid.transaction)
  await client.awaitTx(paid.txHash, { submissionId, timeoutMs })
  say(`accepted ${paid.txHash}, for a fee of ${ada(paid.fee)}`)

  step(`POST /submit: ${ada(withdrawal)} to the bridge, with an address of layer 1 as datum`)
  const home = newKeys()
  const left = await makeWithdrawal(client, {
    from: own,
    to: home.address,
    lovelace: withdrawal,
    units: new Map(),
  })
  say(`accepted ${left.txHash}`)
  say('An output at the bridge is not in the ledger of layer 2: no one can spend it there again.')

  step('GET /withdrawals: its block goes to layer 1, matures and is merged, and the node pays')
  const { headerHash } = await paidOut(client, left.outref, timeoutMs, (state) => say(`… ${state}`))
  const { block } = await client.getTransactionStatus({ tx_hash: left.txHash })
  if (block === undefined || headerHash === undefined)
    throw new CommandError('CLI_DEMO', 'The withdrawal is in no block.')
  note('commit', block.commitTxHash)
  note('merge', block.mergeTxHash)
  const [output] = devnet.utxos({ address: home.addressText })
  if (output === undefined) throw new CommandError('CLI_DEMO', 'Layer 1 has not paid the withdrawal.')
  note('payout', output.transactionHash)
  const arrived = output.output.value.lovelace
  if (arrived < BigInt(left.arrives)) throw new CommandError('CLI_DEMO', 'Layer 1 has paid too little.')
  say(`${home.addressText} has ${ada(arrived)} on layer 1; who paid it out kept the rest.`)
  return {
    deposit: { id: made.id, outref, creditedFrom: made.creditedFrom },
    payment: { txHash: paid.txHash },
    withdrawal: { outref: left.outref, txHash: left.txHash, headerHash },
    arrived: String(arrived),
    ...withContext(devnet, layer1),
    tookMs: Math.round(performance.now() - began),
  }

  /** Reports a transaction of layer 1, and keeps it. */
  function note(what: Layer1Step['what'], txHash: string | undefined): void {
    if (txHash === undefined) throw new CommandError('CLI_DEMO', `The node does not know the ${what}.`)
    const found = transactionOf(devnet, txHash)
    if (found === undefined) throw new CommandError('CLI_DEMO', `Layer 1 does not have the ${what}.`)
    say(`${what.padEnd(7)} ${txHash} on layer 1`)
    layer1.push({ what, txHash, cbor: toHex(found.bytes) })
  }
}

const transactionOf = (devnet: Devnet, txHash: string): Transaction | undefined =>
  devnet.transaction(txHash)?.transaction.transaction

/** Steps with all that anyone needs to judge them. */
function withContext(
  devnet: Devnet,
  steps: readonly Layer1Step[],
): Pick<BridgeReport, 'layer1' | 'earlier' | 'slots'> {
  const known = new Set(steps.map(({ txHash }) => txHash))
  const needed = steps.flatMap(({ txHash }) => {
    const body = transactionOf(devnet, txHash)?.body
    return body ? [...body.inputs, ...body.referenceInputs, ...body.collateralInputs] : []
  })
  const others = new Set(
    needed.map(({ transactionId }) => toHex(transactionId)).filter((id) => !known.has(id)),
  )
  const earlier = [...others].flatMap((id) => {
    const found = transactionOf(devnet, id)
    return found ? [toHex(found.bytes)] : []
  })
  const { zeroTime, slotLength } = devnet.slots
  return { layer1: steps, earlier, slots: { zeroTime: Number(zeroTime), slotLength } }
}

const newKeys = (): WalletKeys => keysFromSigningKey(randomBytes(32).toString('hex'), { networkId: 0 })

const clockOf = (time: string): string => new Date(time).toLocaleTimeString()

/** The outputs of an address on the devnet of the demo. */
const outputsIn =
  (devnet: Devnet): Layer1Outputs =>
  async (address) =>
    devnet.utxos({ address }).map(({ index, transactionHash, output }) => {
      const utxo = { reference: { transactionId: fromHex(transactionHash), index }, output }
      return { pair: toHex(encodeUtxo(utxo)), utxo }
    })
