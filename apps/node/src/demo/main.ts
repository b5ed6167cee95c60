import { tellBlockLife } from './block-life.js'
import { tellDoubleSpend } from './double-spend.js'
import { findNode, type StoryNode } from './find-node.js'
import { ada, Story, short } from './story.js'
import { builderConfig, devnetParameters, lovelaceOf, signedTransfer, type Transfer } from './transfer.js'
import { findFunds, newWallet, type Wallet } from './wallet.js'

const payment = 100_000_000n
const secondPayment = 40_000_000n
const patienceMs = 20_000

async function tell(story: Story, node: StoryNode): Promise<void> {
  const config = builderConfig(await devnetParameters())

  story.step('A key of our own')
  const own = newWallet()
  story.say(own.bech32)

  story.step('Money: the devnet begins with wallets whose keys everybody knows')
  const funds = await findFunds(node.client)
  if (funds === undefined) {
    throw new Error(
      'No devnet wallet has an output left on this node. Was it started with NETWORK=devnet and its own genesis? An empty DATA_DIR begins anew.',
    )
  }
  story.say(`${short(funds.wallet.bech32)} has an output of ${ada(lovelaceOf(funds.utxo.value))}.`)

  story.step('A transfer, built and signed by an independent library (CML)')
  const first = signedTransfer(config, funds.wallet, funds.utxo, own.address, payment)
  sayTransfer(story, first, payment, 'our key')

  story.step('POST /submit')
  await submitAndFollow(story, node, first)

  story.step('GET /utxos: the output is ours')
  const [received] = await node.client.utxos(own.bech32)
  if (received === undefined) throw new Error('The transfer arrived, but our address has no output.')
  story.say(`${own.bech32}`)
  story.say(`has ${ada(lovelaceOf(received.value))}, in output ${short(received.outref)}`)

  story.step('We spend it: the next transfer of the chain, before any block')
  const friend = newWallet()
  const second = signedTransfer(config, own, received, friend.address, secondPayment)
  sayTransfer(story, second, secondPayment, 'a friend')
  await submitAndFollow(story, node, second)

  story.step('GET /txs: what has happened at our address, oldest first')
  const history = await node.client.history(own.bech32)
  for (const cbor of history) {
    story.say(cbor === first.cborHex ? `received ${ada(payment)}` : `sent     ${ada(secondPayment)}`)
  }
  if (history.length !== 2) throw new Error(`Two transactions were expected, ${history.length} are there.`)

  await tellDoubleSpend(
    story,
    node,
    signedTransfer(config, own, received, funds.wallet.address, payment / 2n),
  )
  await sayBalances(story, node, own, friend)
  await tellBlockLife(story, node.client, own.bech32, [first.hash, second.hash])
}

function sayTransfer(story: Story, { hash, fee, size }: Transfer, lovelace: bigint, to: string): void {
  story.say(`${ada(lovelace)} to ${to}, a fee of ${ada(fee)}, ${size} bytes`)
  story.say(`hash ${hash}`)
}

async function submitAndFollow(
  story: Story,
  { client }: StoryNode,
  { cborHex, hash }: Transfer,
): Promise<void> {
  const id = await client.submit(cborHex)
  story.say(`200: in the queue, as entry ${id}`)
  const arrivedMs = await client.arrival(hash, patienceMs)
  if (arrivedMs === undefined) {
    throw new Error(`The node does not know the transaction after ${patienceMs / 1000} s; its log says why.`)
  }
  story.say(`GET /tx finds it after ${Math.round(arrivedMs)} ms: it is valid, and in the mempool ledger`)
}

async function sayBalances(story: Story, { client }: StoryNode, own: Wallet, friend: Wallet): Promise<void> {
  story.step('What everybody has in the end')
  for (const [name, { bech32 }] of [
    ['we', own],
    ['the friend', friend],
  ] as const) {
    const utxos = await client.utxos(bech32)
    const sum = utxos.reduce((total, { value }) => total + lovelaceOf(value), 0n)
    story.say(`${name.padEnd(10)}  ${ada(sum)}`)
  }
}

const story = new Story((line) => console.log(line))
let node: StoryNode | undefined
try {
  story.title('Ratatosk: the way of a payment on layer 2')
  node = await findNode(story)
  await tell(story, node)
  story.title('That is the whole way. The same run again works as well.')
} catch (error) {
  process.exitCode = 1
  console.error(`\n  The demo ends here: ${error instanceof Error ? error.message : error}`)
} finally {
  await node?.close()
  console.log('')
}
