// The reads and transactions of a wallet on cardano-js-sdk, by Blockfrost's API alone. It is given an
// address with ada and two signed payments that spend the same output of it.
import { createRequire } from 'node:module'

// Its ES modules import JSON in a way that Node.js refuses.
const {
  BlockfrostChainHistoryProvider,
  BlockfrostClient,
  BlockfrostNetworkInfoProvider,
  BlockfrostRewardsProvider,
  BlockfrostTxSubmitProvider,
  BlockfrostUtxoProvider,
} = createRequire(import.meta.url)('@cardano-sdk/cardano-services-client')

const { CARDANO_API = '', ADDRESS, STAKE_ADDRESS, PAYMENT, CONFLICTING } = process.env
const [, baseUrl, apiVersion] = /^(.*)\/api\/(.*)$/.exec(CARDANO_API)
const client = new BlockfrostClient({ baseUrl, apiVersion }, { rateLimiter: { schedule: (task) => task() } })
// It tries the CBOR of genesis, logs that there is none, and reads on.
const logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }
const entries = new Map()
const cache = { get: async (key) => entries.get(key), set: async (key, value) => entries.set(key, value) }

const network = new BlockfrostNetworkInfoProvider(client, logger)
const history = new BlockfrostChainHistoryProvider({
  client,
  cache,
  networkInfoProvider: network,
  logger,
})
const outputs = new BlockfrostUtxoProvider({ client, cache, logger })
const rewards = new BlockfrostRewardsProvider(client, logger)
const submission = new BlockfrostTxSubmitProvider(client, logger)

const print = (step, text) => console.log(`${step} ${text}`)

print('tip', (await network.ledgerTip()).hash)
print('parameters', (await network.protocolParameters()).protocolVersion.major)
print('eras', (await network.eraSummaries()).length)
print('supply', (await network.lovelaceSupply()).circulating > 0n)
print('stake', (await network.stake()).live)
print('rewards', await rewards.rewardAccountBalance({ rewardAccount: STAKE_ADDRESS }))
const owned = () => outputs.utxoByAddresses({ addresses: [ADDRESS] })
const before = await owned()
print('outputs', before.length)

await submission.submitTx({ signedTransaction: PAYMENT })
const spends = (id) => before.find(([input]) => input.txId === id)
let paid
for (let tries = 0; paid === undefined && tries < 100; tries++) {
  await new Promise((resolve) => setTimeout(resolve, 100))
  const found = await history.transactionsByAddresses({
    addresses: [ADDRESS],
    pagination: { startAt: 0, limit: 25 },
  })
  paid = found.pageResults.find(({ body }) => body.inputs.some(({ txId }) => spends(txId)))
}
print('paid', paid.id)
// Not `blocksByHashes`, which refuses blocks without the key of a stake pool.
print('block', paid.blockHeader.hash)
print(
  'change',
  (await owned()).some(([{ txId }]) => txId === paid.id),
)

const begun = performance.now()
const refusal = await submission.submitTx({ signedTransaction: CONFLICTING }).then(
  () => 'nothing',
  (error) => `${error.message} ${error.innerError?.body ?? ''}`,
)
print('refused', `after ${Math.round(performance.now() - begun)} ms: ${refusal.replace(/\s+/g, ' ')}`)
