import { fromHex, toHex } from '@ratatosk/cbor'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { anyPlacement } from '../test/backends.js'
import { besideNode, devnetServer, serveBody } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

/** Layer 1, what settings the processes have in common, and a peer without bodies. */
async function openScene(t: Test) {
  const layer1 = await devnetServer(t)
  // Ten seconds for each answer.
  const common = { ...layer1.settings, BLOCK_VALIDITY_MS: '10000', MATURITY_WINDOW_MS: '120000' }
  const watching = {
    NODE_ROLE: 'watcher',
    ARCHIVIST_PEERS: (await serveBody(t)).url,
    WATCHER_PATIENCE_MS: '1000',
  }
  return {
    layer1,
    operator: { ...(await anyPlacement(t)), ...common },
    watcher: { ...(await anyPlacement(t)), ...common, ...watching },
  }
}

const verdicts = async (url: string) => JSON.parse((await ask(`${url}/verdicts`)).body).verdicts

t.test('an operator who withholds a body and stays silent loses block and bond', async (t) => {
  const { layer1, ...settings } = await openScene(t)
  const operator = { ...settings.operator, AUTO_COMMIT: 'false' }
  const node = await runNode(t, operator)
  await initialised(node.url)
  const beside = await besideNode(t, layer1.devnet, operator)
  const watcher = await runNode(t, settings.watcher)

  // A block of which the operator's node knows nothing.
  const { transfer } = await transferFrom(5, 0)
  const { header } = await beside.commitForged([], [fromHex(transfer.cborHex)])
  const headers = async () => JSON.parse((await ask(`${node.url}/stateQueue`)).body).headers
  await until(async () => (await headers()).length === 1, { what: 'the node sees the block' })
  const wallet = beside.walletOf(4)
  const balance = (await wallet.balance()).lovelace
  const isAsked = async () => (await verdicts(watcher.url))[0]?.transactions.length > 0
  await until(isAsked, { what: 'the watcher asks for the body', timeoutMs: 90_000 })
  t.match((await verdicts(watcher.url))[0], {
    operatorKey: toHex(header.operatorVkey),
    state: 'unavailable',
    reason: 'No peer serves its body',
    transactions: [{ stage: 'question' }],
  })
  await until(async () => (await headers()).length === 0, { what: 'the block is gone', timeoutMs: 90_000 })
  t.same((await beside.readOperators()).datum.operators, [], 'its operator is slashed')
  const { bond } = beside.contracts.parameters
  const isSettled = async () => (await verdicts(watcher.url))[0]?.state === 'removed'
  await until(isSettled, { what: 'the verdict is settled' })
  const gain = async () => (await wallet.balance()).lovelace - balance
  await until(async () => (await gain()) > bond, { what: 'both bonds are the watcher’s' })
  t.match((await verdicts(watcher.url))[0], {
    policy: 'summons',
    fraud: 'unanswered',
    transactions: [{ stage: 'question' }, { stage: 'verdict' }, { stage: 'removal' }],
  })
})

t.test('an honest operator whose archivist is away answers, and keeps the block', async (t) => {
  const { operator, watcher: watching } = await openScene(t)
  const node = await runNode(t, operator)
  await initialised(node.url)
  const watcher = await runNode(t, watching)
  const { transfer } = await transferFrom(5, 0)
  t.equal((await submit(node.url, transfer.cborHex)).status, 200)
  const newest = () => node.store.blocks.newest()
  await until(async () => (await newest())?.state === 'committed', { what: 'a block is committed' })
  const { headerHash } = (await newest())!
  const isValid = async () => (await verdicts(watcher.url))[0]?.state === 'valid'
  await until(isValid, { what: 'the watcher has the body', timeoutMs: 90_000 })
  t.match((await verdicts(watcher.url))[0], {
    headerHash: toHex(headerHash),
    transactions: [{ stage: 'question' }],
  })
  const archived = await watcher.store.archive.byHeight(1n)
  t.same(archived?.headerHash, headerHash)
  t.not((await node.store.blocks.newest())?.state, 'removed')
  t.not((await operatorsOf(node.url)).length, 0, 'the operator keeps the bond')
})

const operatorsOf = async (url: string) => JSON.parse((await ask(`${url}/operators`)).body).operators
