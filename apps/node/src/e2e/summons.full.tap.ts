import { decodeHeader, encodedHeader, headerFieldIndex } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { createClient, StatusError } from '@ratatosk/client'
import { outputReferenceKey } from '@ratatosk/ledger'
import { askQuestions, readQuestions } from '@ratatosk/protocol'
import { encodeAsk, nodeKey } from '@ratatosk/protocol/fraud'
import { ignoreAnswers } from '@ratatosk/test-kit/answers-hook'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement } from '../test/backends.js'
import { besideNode, devnetServer, serveBody } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

t.setTimeout(600_000)

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

ignoreAnswers('/metrics')

t.test('on a new devnet an honest node lists questions about its blocks, and answers them', async (t) => {
  const layer1 = await devnetServer(t)
  const environment = {
    ...(await anyPlacement(t)),
    ...layer1.settings,
    BLOCK_VALIDITY_MS: '10000',
    MATURITY_WINDOW_MS: '600000',
    SERVE_METRICS: 'true',
    OPERATOR_TOKEN: 'secret',
  }
  const node = await runNode(t, environment)
  await initialised(node.url)
  const { transfer } = await transferFrom(5, 0)
  t.equal((await submit(node.url, transfer.cborHex)).status, 200)
  const newest = () => node.store.blocks.newest()
  await until(async () => (await newest())?.state === 'committed', { what: 'a block is committed' })
  const block = (await newest())!
  const header = decodeHeader(block.header)

  const beside = await besideNode(t, layer1.devnet, environment)
  const { contracts, port, walletOf, readScripts } = beside
  const get = async (path: string) => JSON.parse((await ask(`${node.url}${path}`)).body)

  const { turnLength, maxOperators } = contracts.parameters
  const [operator] = (await beside.readOperators()).datum.operators
  const operatorKey = toHex(operator!.vkey)
  const { turnEndsAt, takeOverAt, ...operators } = await get('/operators')
  t.same(operators, {
    inTurn: operatorKey,
    next: operatorKey,
    turnLength: Number(turnLength),
    operators: [
      {
        operatorKey,
        bond: String(contracts.parameters.bond),
        activeFrom: new Date(Number(operator!.activeFrom)).toISOString(),
      },
    ],
    maxOperators: Number(maxOperators),
    permissioned: true,
  })
  const left = Date.parse(turnEndsAt) - Date.now()
  t.ok(Date.parse(takeOverAt) > 0, 'the queue has an end')
  t.ok(left > -5000 && left <= turnLength, `${left} ms of the turn are left`)
  t.same(await get('/summons'), { questions: [], hasMore: false })

  // No answer reaches layer 1 until the node has listed the questions.
  const admit = layer1.devnet.faults.inject({
    kind: 'failure',
    target: 'blockfrost',
    operation: 'submit',
    times: Number.POSITIVE_INFINITY,
  })
  const [stranger, slots] = [walletOf(3), await port.slots()]
  const { utxosRoot, transactionsRoot } = headerFieldIndex
  const top = { kind: 'subtree', key: nodeKey(new Uint8Array(32), 0) } as const
  const wanted = [
    { ...top, root: utxosRoot, hash: header.utxosRoot },
    { ...top, root: transactionsRoot, hash: header.transactionsRoot },
    { kind: 'chunk', root: transactionsRoot, key: new Uint8Array(4), hash: header.transactionsRoot },
  ] as const
  const questions = async () =>
    readQuestions(contracts, await port.utxosByPolicy(contracts.summons!.policy)).length
  for (const [place, each] of wanted.entries()) {
    const { hash: refund } = stranger.keys.payment
    const draft = askQuestions(
      contracts,
      {
        questions: [{ ...each, headerHash: block.headerHash, refund }],
        redeemer: () => encodeAsk(header, [[]]),
        // Two minutes: a busy machine takes long to build it. Two may be asked in one slot.
        validUntil: (await port.currentSlot()) + 120_000n / BigInt(slots.slotLength) + BigInt(place),
        slots,
      },
      await readScripts(),
    )
    const { id } = await stranger.send(draft)
    await port.await(id)
  }
  const headerHash = toHex(block.headerHash)
  const listed = () => get(`/summons?header_hash=${headerHash}`)
  await until(async () => (await listed()).questions.length === 3, { what: 'every question is listed' })
  const { questions: open, hasMore } = await listed()
  t.equal(hasMore, false)
  t.same(
    open.map(({ kind, root, key, bond }: Record<string, string>) => [kind, root, key, bond]),
    [
      ['subtree', 'utxosRoot', toHex(top.key), '2500000'],
      ['subtree', 'transactionsRoot', toHex(top.key), '2500000'],
      ['chunk', 'transactionsRoot', '00000000', '2500000'],
    ],
    'in the order of their deadlines',
  )
  t.same(open, (await get('/summons')).questions)
  const outputs = readQuestions(contracts, await port.utxosByPolicy(contracts.summons!.policy))
  for (const { utxo, question } of outputs)
    t.match(
      open.find((each: { question: string }) => each.question === outputReferenceKey(utxo.reference)),
      { headerHash, deadline: new Date(Number(question.deadline)).toISOString() },
    )
  t.same(await get(`/summons?header_hash=${'00'.repeat(28)}`), { questions: [], hasMore: false })
  admit()
  await until(async () => (await questions()) === 0, { what: 'every question is answered' })
  await until(async () => (await listed()).questions.length === 0, { what: 'no question is listed' })
  // The node forgets why an answer failed when it next looks for questions.
  const isReady = async () => (await ask(`${node.url}/health/ready`)).status === 200
  await until(isReady, { what: 'the node is ready' })
  const metrics = async () =>
    (await ask(`${node.url}/metrics`, { headers: { authorization: 'Bearer secret' } })).body
  await until(async () => /^ratatosk_questions_open 0$/m.test(await metrics()), { what: 'none is open' })
  // One that expires before layer 1 includes it is sent again.
  t.match(await metrics(), /^ratatosk_answers_total [1-9]/m)
  t.match(await metrics(), /^ratatosk_questions_first_deadline_timestamp_seconds 0$/m)
  t.ok((await newest())!.height >= block.height, 'the block stands')
})
