import { NotFoundError, RejectedError } from '@ratatosk/client'
import { showBlockLife } from './block-life.js'
import { findNode } from './find-node.js'
import { ada, say, short, step, title } from './story.js'
import { findFunds, lovelaceIn, newWallet, openBuilder, outputsOf } from './wallet.js'

const payment = 100_000_000n
const secondPayment = 40_000_000n
const timeoutMs = 20_000

async function show(client) {
  step('A key of our own')
  const own = newWallet()
  say(own.addressText)

  step('Money: the devnet begins with test wallets, whose keys are public')
  const funds = await findFunds(client)
  if (funds === undefined) {
    throw new Error(
      'No devnet wallet has an output left on this node. Was it started with NETWORK=devnet and its own ' +
        'genesis? An empty DATA_DIR begins anew.',
    )
  }
  say(`${short(funds.wallet.addressText)} has an output of ${ada(lovelaceIn([funds.utxo]))}.`)

  step('GET /network: a transfer, built and signed with the parameters of layer 2')
  const builder = await openBuilder(client)
  const first = await builder.pay({ from: funds.wallet, utxo: funds.utxo, to: own, lovelace: payment })
  sayTransfer(first, payment, 'our key')

  step('POST /submit')
  await submitAndFollow(client, first)

  step('GET /utxos: the output is ours')
  const [received] = await outputsOf(client, own)
  if (received === undefined) throw new Error('The transfer arrived, but our address has no output.')
  say(`${short(own.addressText)} has ${ada(lovelaceIn([received]))}`)

  step('We spend it: the next transfer of the chain, before any block')
  const friend = newWallet()
  const second = await builder.pay({ from: own, utxo: received, to: friend, lovelace: secondPayment })
  sayTransfer(second, secondPayment, 'a friend')
  await submitAndFollow(client, second)

  step('GET /txs: the transactions of our address, oldest first')
  const { txs } = await client.listTransactions({ address: own.addressText })
  for (const cbor of txs)
    say(cbor === first.cborHex ? `received ${ada(payment)}` : `sent     ${ada(secondPayment)}`)
  if (txs.length !== 2) throw new Error(`Two transactions were expected, ${txs.length} are there.`)

  await showDoubleSpend(
    client,
    await builder.pay({ from: own, utxo: received, to: funds.wallet, lovelace: payment / 2n }),
  )

  step('The balances in the end')
  for (const [name, wallet] of [
    ['we', own],
    ['the friend', friend],
  ]) {
    say(`${name.padEnd(10)}  ${ada(lovelaceIn(await outputsOf(client, wallet)))}`)
  }
  await showBlockLife(client, own, [first.hash, second.hash])
}

function sayTransfer({ hash, fee, size }, lovelace, to) {
  say(`${ada(lovelace)} to ${to}, a fee of ${ada(fee)}, ${size} bytes`)
  say(`hash ${hash}`)
}

async function submitAndFollow(client, { cborHex, hash }) {
  const start = performance.now()
  const { id } = await client.submit(cborHex)
  say(`200: in the queue, as entry ${id}`)
  await client.awaitTx(hash, { submissionId: id, timeoutMs })
  const elapsedMs = Math.round(performance.now() - start)
  await client.getTransaction({ tx_hash: hash })
  say(`GET /tx finds it after ${elapsedMs} ms: it is valid, and in the mempool ledger`)
}

/** Submits a transaction whose input is spent already, and shows why the node rejects it. */
async function showDoubleSpend(client, { cborHex, hash }) {
  step('A double spend: the same output once more, to another address')
  const { id } = await client.submit(cborHex)
  say(`200: in the queue, as entry ${id}; validation follows`)
  const rejected = await client.awaitTx(hash, { submissionId: id, timeoutMs }).catch((error) => error)
  if (!(rejected instanceof RejectedError)) throw new Error('The node has not rejected a double spend.')
  const { rejection } = await client.getTransactionStatus({ tx_hash: hash })
  const attempts = rejection.attempts === 1 ? '1 attempt' : `${rejection.attempts} attempts`
  say(`GET /tx/status: rejected after ${attempts}`)
  for (const { predicate, message } of rejection.failures) say(`${predicate}: ${message}`)
  const known = await client.getTransaction({ tx_hash: hash }).catch((error) => error)
  if (!(known instanceof NotFoundError)) throw new Error('GET /tx knows the double spend.')
  say('GET /tx answers 404, and the ledger is as it was')
}

let node
try {
  title('Ratatosk: a payment on layer 2, from submission to merge')
  node = await findNode()
  await show(node.client)
  title('That is the whole way. The same run again works as well.')
} catch (error) {
  process.exitCode = 1
  console.error(`\n  The demo ends here: ${error instanceof Error ? error.message : error}`)
} finally {
  await node?.close()
  console.log('')
}
