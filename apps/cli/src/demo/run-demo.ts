import { randomBytes } from 'node:crypto'
import { type Client, NotFoundError, RejectedError } from '@ratatosk/client'
import { keysFromSigningKey } from '@ratatosk/ledger/builder'
import { CommandError } from '../frame/errors.js'
import { ada } from '../frame/text.js'
import { devnetFunds, lovelaceIn, openBuilder, outputsOf, type SignedPayment } from '../layer2/layer2.js'
import type { Story } from './story.js'

const payment = 100_000_000n
const secondPayment = 40_000_000n
/** Pays the fee of a payment, and an output for the change. */
const reserve = 2_000_000n
const timeoutMs = 20_000

interface AcceptedPayment {
  readonly txHash: string
  /** Decimal. */
  readonly lovelace: string
  /** Milliseconds from its submission. */
  readonly afterMs: number
}

interface DemoReport {
  readonly accepted: readonly AcceptedPayment[]
  readonly rejected: { readonly txHash: string; readonly code: string }
  /** Lovelace, decimal. */
  readonly balances: Readonly<Record<'own' | 'friend', string>>
  /** Header hashes of the blocks that were merged. */
  readonly blocks: readonly string[]
}

/**
 * Follows two payments and a double spend on a devnet until their block is merged.
 * @throws CommandError if no test wallet of a devnet has funds, or an answer is not as expected
 */
export async function runDemo(client: Client, story: Story): Promise<DemoReport> {
  const { say, step } = story
  step('A key of our own')
  const own = newWallet()
  say(own.addressText)

  const demo: Demo = { ...story, client, own, builder: await openBuilder(client) }
  const { funds, first, accepted } = await payFromTestWallet(demo)

  step('GET /utxos: the output is ours')
  const [received] = await outputsOf(client, own.addressText)
  if (received === undefined) throw new CommandError('CLI_DEMO', 'Our address has no output.')
  say(`we have ${ada(lovelaceIn([received]))}`)

  step('We spend it: the next payment of the chain, before any block')
  const friend = newWallet()
  const spend = { from: own, utxo: received }
  const second = await pay(demo, { ...spend, to: friend.addressText, lovelace: secondPayment }, 'a friend')
  const acceptedToo = await submitAndFollow(demo, second)

  step('GET /txs: the transactions of our address, oldest first')
  const { txs } = await client.listTransactions({ address: own.addressText })
  if (txs.join() !== [first.transaction, second.transaction].join())
    throw new CommandError('CLI_DEMO', 'GET /txs does not list the two payments.')
  say(`received ${ada(payment)}`)
  say(`sent     ${ada(secondPayment)}`)

  step('A double spend: the same output once more, to another address')
  const double = await demo.builder.pay({ ...spend, to: funds.from.addressText, lovelace: payment / 2n })
  const code = await submitDoubleSpend(demo, double)

  step('The balances in the end')
  const balanceOf = async (address: string) => lovelaceIn(await outputsOf(client, address))
  const balances = { own: await balanceOf(own.addressText), friend: await balanceOf(friend.addressText) }
  say(`we          ${ada(balances.own)}`)
  say(`the friend  ${ada(balances.friend)}`)
  const hashes = [first.txHash, second.txHash]
  return {
    accepted: [accepted, acceptedToo],
    rejected: { txHash: double.txHash, code },
    balances: { own: String(balances.own), friend: String(balances.friend) },
    blocks: await showBlockLife(demo, hashes),
  }
}

interface Demo extends Story {
  readonly client: Client
  readonly own: ReturnType<typeof newWallet>
  readonly builder: Awaited<ReturnType<typeof openBuilder>>
}

/** Retries with another output if another program spent the chosen one first. */
async function payFromTestWallet(demo: Demo, attempts = 3) {
  const { client, own, builder, say, step } = demo
  step('GET /network, GET /utxos: the devnet begins with test wallets, whose keys are public')
  const funds = builder.network === 'devnet' ? await devnetFunds(client, payment + reserve) : undefined
  if (funds === undefined)
    throw new CommandError(
      'CLI_NO_FUNDS',
      'No devnet wallet has enough on this node. It needs NETWORK=devnet and the genesis of the devnet; ' +
        'an empty DATA_DIR begins anew.',
    )
  say(`${short(funds.from.addressText)} has an output of ${ada(lovelaceIn([funds.utxo]))}.`)
  const first = await pay(demo, { ...funds, to: own.addressText, lovelace: payment }, 'our key')
  step('POST /submit')
  try {
    return { funds, first, accepted: await submitAndFollow(demo, first) }
  } catch (error) {
    const isSpent = error instanceof RejectedError && error.code === 'BadInputsUTxO'
    if (!isSpent || attempts === 1) throw error
    say('Another program spent the output first.')
    return payFromTestWallet(demo, attempts - 1)
  }
}

async function pay({ builder, say }: Demo, payment: Parameters<Demo['builder']['pay']>[0], to: string) {
  const signed = await builder.pay(payment)
  const { txHash, fee, transaction } = signed
  say(`${ada(payment.lovelace)} to ${to}, a fee of ${ada(fee)}, ${transaction.length / 2} bytes`)
  say(`hash ${txHash}`)
  return { ...signed, lovelace: payment.lovelace }
}

async function submitAndFollow(
  { client, say }: Demo,
  { transaction, txHash, lovelace }: Awaited<ReturnType<typeof pay>>,
): Promise<AcceptedPayment> {
  const begun = performance.now()
  const { id } = await client.submit(transaction)
  say(`200: in the queue, as entry ${id}`)
  await client.awaitTx(txHash, { submissionId: id, timeoutMs })
  const afterMs = Math.round(performance.now() - begun)
  await client.getTransaction({ tx_hash: txHash })
  say(`GET /tx finds it after ${afterMs} ms: it is valid, and in the mempool ledger`)
  return { txHash, lovelace: String(lovelace), afterMs }
}

/** @returns the code of the rejection */
async function submitDoubleSpend(
  { client, say }: Demo,
  { transaction, txHash }: SignedPayment,
): Promise<string> {
  const { id } = await client.submit(transaction)
  say(`200: in the queue, as entry ${id}; validation follows`)
  const options = { submissionId: id, timeoutMs }
  const result: unknown = await client.awaitTx(txHash, options).catch((error: unknown) => error)
  if (!(result instanceof RejectedError))
    throw new CommandError('CLI_DEMO', 'The node has not rejected a double spend.')
  const { attempts, code, failures } = result.rejection
  say(`GET /tx/status: rejected after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}`)
  for (const { predicate, message } of failures) say(`${predicate}: ${message}`)
  const found: unknown = await client.getTransaction({ tx_hash: txHash }).catch((error: unknown) => error)
  if (!(found instanceof NotFoundError)) throw new CommandError('CLI_DEMO', 'GET /tx finds the double spend.')
  say('GET /tx answers 404, and the ledger is as it was')
  return code
}

function newWallet() {
  return keysFromSigningKey(randomBytes(32).toString('hex'), { networkId: 0 })
}

/** The two ends of an address. */
function short(address: string): string {
  return `${address.slice(0, 20)}…${address.slice(-6)}`
}

/** Generous, because a loaded machine is slow. */
const blockTimeoutMs = 120_000
const reportEveryMs = 10_000

/**
 * Follows our transactions into the confirmed state; returns their blocks' hashes.
 * @throws CommandError if the merge changes what the node answers
 */
async function showBlockLife(demo: Demo, hashes: readonly string[]): Promise<readonly string[]> {
  const { client, own, say, step } = demo
  const address = own.addressText
  step('GET /stateQueue: valid transactions go into a block, and its header is committed to layer 1')
  const { txs: history } = await client.listTransactions({ address })
  const blocks = new Map<string, readonly string[]>()
  for (const hash of hashes) {
    const { block } = await client.awaitTx(hash, { finality: 'committed', timeoutMs: blockTimeoutMs })
    if (block === undefined || blocks.has(block.headerHash)) continue
    const listed = (await client.listBlockTransactions({ header_hash: block.headerHash })).hashes
    blocks.set(block.headerHash, listed)
    say(`block ${block.headerHash}`)
    say(`GET /block lists ${listed.length} of its transactions, ours among them`)
  }

  step('The maturity window, by default 30 s on the devnet')
  say('While it lasts, anyone can check the block, and remove it with a fraud proof if it is invalid.')
  const report = setInterval(() => say('… still in the state queue'), reportEveryMs)
  try {
    await Promise.all(
      hashes.map((hash) => client.awaitTx(hash, { finality: 'merged', timeoutMs: blockTimeoutMs })),
    )
  } finally {
    clearInterval(report)
  }
  say('The block is merged into the confirmed state.')

  step('The merge keeps every transaction')
  for (const hash of hashes) await client.getTransaction({ tx_hash: hash })
  say('GET /tx still finds every transaction,')
  for (const [header, listed] of blocks) {
    const { hashes: now } = await client.listBlockTransactions({ header_hash: header })
    if (now.join() !== listed.join()) throw new CommandError('CLI_DEMO', `GET /block changed for ${header}.`)
  }
  say('GET /block still lists them,')
  const { txs } = await client.listTransactions({ address })
  if (txs.join() !== history.join()) throw new CommandError('CLI_DEMO', 'GET /txs changed.')
  say('and GET /txs is unchanged.')
  return [...blocks.keys()]
}
