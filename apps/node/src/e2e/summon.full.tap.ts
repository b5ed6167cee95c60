import { encodedHeader } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { createClient, StatusError } from '@ratatosk/client'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement } from '../test/backends.js'
import { serveBody } from '../test/body-server.js'
import { devnetServer } from '../test/devnet-server.js'
import { besideNode } from '../test/forged-block.js'
import { initialised, runNode } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

t.setTimeout(300_000)

t.test('POST /summon asks for a hidden body at once, and silence removes the block', async (t) => {
  const layer1 = await devnetServer(t)
  // Ten seconds for an answer. Nothing is asked without a summons.
  const common = { ...layer1.settings, BLOCK_VALIDITY_MS: '10000', MATURITY_WINDOW_MS: '120000' }
  const operator = { ...(await anyPlacement(t)), ...common, AUTO_COMMIT: 'false' }
  const node = await runNode(t, operator)
  await initialised(node.url)
  const beside = await besideNode(t, layer1.devnet, operator)
  const { url } = await runNode(t, {
    ...(await anyPlacement(t)),
    ...common,
    NODE_ROLE: 'watcher',
    ARCHIVIST_PEERS: (await serveBody(t)).url,
    OPERATOR_TOKEN: 'secret',
    WATCHER_PATIENCE_MS: '600000',
  })
  const { transfer } = await transferFrom(5, 0)
  const { header } = await beside.commitForged([], [fromHex(transfer.cborHex)])
  const headerHash = toHex(encodedHeader(header).hash)
  const client = createClient(url, { operatorToken: 'secret' })
  const summon = (hash = headerHash) => client.summon({ headerHash: hash, kind: 'chunk', chunk: 0 })
  const refusal = async (hash = headerHash) => {
    const error = await summon(hash).catch((reason: unknown) => reason)
    return error instanceof StatusError ? [error.status, error.message] : [String(error)]
  }
  t.equal((await ask(`${url}/summon`, { method: 'POST' })).status, 401)
  t.match(await refusal('00'.repeat(28)), [404, /No such block in the state queue: 0/])

  let asked: Awaited<ReturnType<typeof summon>> | undefined
  await until(
    async () => {
      asked = await summon().catch(() => undefined)
      return asked !== undefined
    },
    { what: 'the question is asked', timeoutMs: 90_000 },
  )
  t.match(await refusal(), [409, /Already asked/])
  const questions = async () => (await client.listQuestions({})).questions
  await until(async () => (await questions()).length === 1, { what: 'layer 1 has it' })
  t.match(await questions(), [{ question: asked?.question, headerHash, deadline: asked?.deadline }])
  const verdict = async () => (await client.listVerdicts({})).verdicts[0]
  t.match(await verdict(), {
    state: 'unavailable',
    transactions: [{ stage: 'question', txHash: asked?.txHash }],
  })
  const isRemoved = async () => (await verdict())?.state === 'removed'
  await until(isRemoved, { what: 'the block is removed', timeoutMs: 90_000 })
  t.match(await verdict(), { fraud: 'unanswered' })
  t.equal((await refusal())[0], 404)
})
